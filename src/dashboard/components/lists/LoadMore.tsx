import { Button } from '../actions/Button.tsx'
import { strings } from '../strings.ts'

interface LoadMoreProps {
  /** Is there another page? */
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly onMore: () => void
}

/** The end of a list that has further pages. */
export function LoadMore({ hasMore, isLoading, onMore }: LoadMoreProps) {
  if (!hasMore) return null
  return (
    <div className="flex justify-center py-4">
      <Button isBusy={isLoading} onClick={onMore}>
        {isLoading ? strings.loadingMore : strings.more}
      </Button>
    </div>
  )
}
