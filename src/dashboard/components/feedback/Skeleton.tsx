import { classes } from '../classes.ts'
import { strings } from '../strings.ts'

/** A grey bar where text will be. */
export function Skeleton({ className = 'h-4 w-full' }: { readonly className?: string }) {
  return <span className={classes('block animate-pulse rounded-sm bg-line', className)} />
}

/** Grey rows where a list will be. */
export function SkeletonRows({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div role="status" className="overflow-hidden rounded-lg border border-line bg-surface">
      <span className="sr-only">{strings.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <div key={row} className="flex h-11 items-center gap-4 border-b border-line px-3 last:border-0">
          <Skeleton className="h-3 w-1/4" />
          <Skeleton className="h-3 w-2/5" />
          <Skeleton className="ml-auto h-3 w-16" />
        </div>
      ))}
    </div>
  )
}
