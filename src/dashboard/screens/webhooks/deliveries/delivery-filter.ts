import type { Delivery } from '../webhook.ts'

/** How far back deliveries are listed. */
export type Since = 'hour' | 'day' | 'week'

/** Which deliveries are listed; what is absent matches all. */
export interface DeliveryFilter {
  readonly status?: Delivery['status']
  readonly since?: Since
}

const statuses: readonly Delivery['status'][] = ['delivered', 'retrying', 'failed']
const spanMs: Readonly<Record<Since, number>> = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }

/** All spans, the shortest first. */
export const spans = Object.keys(spanMs) as readonly Since[]

/** What of the URL is a filter. */
export function readDeliveryFilter(search: Readonly<Record<string, unknown>>): DeliveryFilter {
  const status = statuses.find(known => known === search['status'])
  const since = spans.find(known => known === search['since'])
  return { ...(status && { status }), ...(since && { since }) }
}

/** The filter as the API's query parameters. The beginning of a span is that of its minute, so that pages belong together. */
export function filterParams({ status, since }: DeliveryFilter) {
  const minuteMs = 60_000
  return {
    ...(status && { status }),
    ...(since && {
      since: new Date(Math.floor((Date.now() - spanMs[since]) / minuteMs) * minuteMs).toISOString(),
    }),
  }
}
