import { answer, app } from '../../../api/client.ts'
import type { components, operations } from '../../../api/generated/app.ts'

export type QueueRecipient = components['schemas']['QueueRecipient']

export type QueueActionName = 'retry' | 'hold' | 'release' | 'cancel'

type QueueActionBody = NonNullable<operations['changeQueue']['requestBody']>['content']['application/json']

/** Which recipients are meant: one of the server's three ways to say it. */
export type QueueSelection = Pick<
  QueueActionBody,
  'email_ids' | 'organization_id' | 'domain' | 'status' | 'is_held' | 'is_all'
>

/** What an action did, or would do, so far. */
export interface QueueProgress {
  readonly done: number
  readonly in_flight: number
  readonly as_it_was: number
  readonly held: number
  readonly scheduled: number
  /** There is more than this. */
  readonly isMore: boolean
}

const nothing: QueueProgress = { done: 0, in_flight: 0, as_it_was: 0, held: 0, scheduled: 0, isMore: false }

/** Counts what an action would do, in the first thousands of the selection. */
export async function countAction(action: QueueActionName, selection: QueueSelection): Promise<QueueProgress> {
  const { next_cursor: next, ...counts } = await call(action, { ...selection, dry_run: true })
  return add({ ...nothing, isMore: false }, counts, next !== null)
}

/** Does it, a few thousand recipients at a time, until all of the selection is done. */
export async function runAction(
  action: QueueActionName,
  selection: QueueSelection,
  reason: string,
  onProgress: (progress: QueueProgress) => void,
): Promise<QueueProgress> {
  let progress = nothing
  let cursor: string | null = null
  do {
    const body: QueueActionBody = {
      ...selection,
      ...(action === 'hold' && reason.trim() !== '' && { reason }),
      ...(cursor !== null && { cursor }),
    }
    const { next_cursor: next, ...counts } = await call(action, body)
    progress = add(progress, counts, next !== null)
    onProgress(progress)
    cursor = next
  } while (cursor !== null)
  return progress
}

function call(action: QueueActionName, body: QueueActionBody) {
  return answer(app.POST('/app/api/instance/queue/{action}', { params: { path: { action } }, body }))
}

function add(before: QueueProgress, counts: Omit<QueueProgress, 'isMore'>, isMore: boolean): QueueProgress {
  return {
    done: before.done + counts.done,
    in_flight: before.in_flight + counts.in_flight,
    as_it_was: before.as_it_was + counts.as_it_was,
    held: before.held + counts.held,
    scheduled: before.scheduled + counts.scheduled,
    isMore,
  }
}
