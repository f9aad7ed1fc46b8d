import { queryOptions } from '@tanstack/react-query'
import { answer, type OrganizationApi } from './client.ts'
import type { components } from './generated/app.ts'

/** Something in the organization that needs somebody. */
export type StatusLamp = components['schemas']['StatusLamp']
/** An hour of the last seven days; null: not counted yet, or not to be seen. */
export type HourlyCount = components['schemas']['HourlyCount']
export type RecentEvent = components['schemas']['RecentEvent']
export type Today = components['schemas']['Today']

const statusMs = 30_000
const todayMs = 15_000
const uncountedMs = 1_000

/** What is wrong in the organization; empty when all is well. */
export function statusQuery({ organizationId, brandId, app }: OrganizationApi) {
  return queryOptions({
    queryKey: ['status', organizationId, brandId],
    queryFn: () => answer(app.GET('/app/api/status')),
    refetchInterval: statusMs,
  })
}

/** What the screen Today shows; asked again soon while hours are still to be counted. */
export function todayQuery({ organizationId, brandId, app }: OrganizationApi) {
  return queryOptions({
    queryKey: ['today', organizationId, brandId],
    queryFn: () => answer(app.GET('/app/api/today')),
    refetchInterval: ({ state }) => (state.data?.complete === false ? uncountedMs : todayMs),
  })
}
