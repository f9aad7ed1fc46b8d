import { answer, type OrganizationApi } from '../../../api/client.ts'
import type { components } from '../../../api/v1.ts'

/** Which events are to be sent again. */
export interface ReplaySpan {
  readonly only: 'failed' | 'all'
  /** As the API has instants. */
  readonly from: string
  readonly to?: string
  /** Absent: all that the endpoint gets. */
  readonly types?: string[]
}

/** How many events a replay sends again; `more`: the counting stopped there. */
export interface ReplayCount {
  readonly count: number
  readonly more: boolean
}

type ReplayPage = components['schemas']['WebhookReplay']

const mostRequests = 50

/** Sends the events of a span again, or only counts them; a request does a part of it. */
export async function replay(
  { v1 }: OrganizationApi,
  id: string,
  span: ReplaySpan,
  isDryRun: boolean,
): Promise<ReplayCount> {
  let count = 0
  let cursor: string | null = null
  for (let requests = 0; requests < mostRequests; requests++) {
    const body = { ...span, dry_run: isDryRun, ...(cursor !== null && { cursor }) }
    const done: ReplayPage = await answer(v1.POST('/v1/webhooks/{id}/replay', { params: { path: { id } }, body }))
    count += done.replayed
    cursor = done.next_cursor
    if (cursor === null) return { count, more: false }
  }
  return { count, more: true }
}
