import { queryOptions } from '@tanstack/react-query'
import type { OrganizationApi } from './client.ts'
import { requestJson } from './request.ts'

/** Something in the organization that needs somebody. */
export interface StatusLamp {
  readonly name: string
  readonly level: 'notice' | 'warning' | 'critical'
  readonly count: number
  /** There are more than `count`. */
  readonly more: boolean
  readonly unit: 'items' | 'percent'
  readonly since: string | null
  /** A sentence of the server on what it is based on. */
  readonly detail: string | null
  /** Below the organization, with its query: `/sent?status=sent`. */
  readonly href: string
}

/** An hour of the last seven days; null: not counted yet, or not to be seen. */
export interface HourlyCount {
  readonly at: string
  readonly received: number | null
  readonly accepted: number | null
  readonly more: boolean
}

export interface RecentEvent {
  readonly id: string
  readonly at: string
  readonly kind: 'email' | 'message'
  readonly type: string
  /** The id of the email or the message. */
  readonly subject_id: string
  readonly address: string | null
  readonly subject: string
  readonly folder: string | null
}

/** `GET /app/api/today`. */
export interface Today {
  readonly hours: readonly HourlyCount[]
  /** false: some hours are not counted yet. */
  readonly complete: boolean
  /** null: the member may not read emails. */
  readonly statuses: readonly { readonly status: string; readonly count: number; readonly more: boolean }[] | null
  readonly attention: readonly StatusLamp[]
  readonly events: readonly RecentEvent[]
  readonly first_steps: Readonly<Record<'domain_ready' | 'mailbox' | 'first_in' | 'first_out' | 'key', boolean>>
}

const statusMs = 30_000
const todayMs = 15_000
const uncountedMs = 1_000

/** What is wrong in the organization; empty when all is well. */
export function statusQuery({ organizationId, brandId }: OrganizationApi) {
  return queryOptions({
    queryKey: ['status', organizationId, brandId],
    queryFn: () =>
      requestJson<{ readonly data: readonly StatusLamp[] }>('GET', '/app/api/status', { organizationId, brandId }),
    refetchInterval: statusMs,
  })
}

/** What the screen Today shows; asked again soon while hours are still to be counted. */
export function todayQuery({ organizationId, brandId }: OrganizationApi) {
  return queryOptions({
    queryKey: ['today', organizationId, brandId],
    queryFn: () => requestJson<Today>('GET', '/app/api/today', { organizationId, brandId }),
    refetchInterval: ({ state }) => (state.data?.complete === false ? uncountedMs : todayMs),
  })
}
