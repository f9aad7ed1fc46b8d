import type { ErrorComponentProps } from '@tanstack/react-router'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { strings } from '../strings.ts'

/** A screen that failed: the server's refusal, or a mistake of ours. After an upgrade its chunk is gone: load anew. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  const isChunkGone = error instanceof TypeError && /dynamically imported module/.test(error.message)
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-4 px-4 py-12">
      <h1 className="text-xl font-semibold">{isChunkGone ? strings.newVersion : strings.failed}</h1>
      {!isChunkGone && <Refusal error={error} />}
      <div>
        <Button onClick={isChunkGone ? () => location.reload() : reset}>
          {isChunkGone ? strings.reload : strings.retry}
        </Button>
      </div>
    </div>
  )
}
