import { queryOptions } from '@tanstack/react-query'
import { answer, type OrganizationApi } from '../../api/client.ts'
import { queryKey } from '../../api/keys.ts'
import type { components } from '../../api/v1.ts'
import type { Tone } from '../../components/text/Status.tsx'

/** A webhook endpoint, without its secret. */
export type Webhook = components['schemas']['Webhook']

/** What became of an event's delivery to an endpoint. */
export type Delivery = components['schemas']['WebhookDelivery']

/** What came back of a test. */
export type TestResult = components['schemas']['WebhookTest']

const refreshMs = 10_000

export const webhookTones: Readonly<Record<Webhook['status'], Tone>> = {
  active: 'good',
  failing: 'warn',
  disabled: 'bad',
}

export const deliveryTones: Readonly<Record<Delivery['status'], Tone>> = {
  delivered: 'good',
  retrying: 'warn',
  failed: 'bad',
}

/** All endpoints that the person may see: an organization has at most twenty. */
export function webhooksQuery(api: OrganizationApi) {
  return queryOptions({
    queryKey: queryKey('webhooks', api),
    queryFn: () => answer(api.v1.GET('/v1/webhooks')),
    refetchInterval: refreshMs,
  })
}

export function webhookQuery(api: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: queryKey('webhooks', api, id),
    queryFn: () => answer(api.v1.GET('/v1/webhooks/{id}', { params: { path: { id } } })),
    refetchInterval: refreshMs,
  })
}

/** Lets an endpoint go on from where it stopped, or stops it. */
export function enableWebhook({ v1 }: OrganizationApi, id: string, enabled: boolean): Promise<Webhook> {
  return answer(v1.PATCH('/v1/webhooks/{id}', { params: { path: { id } }, body: { enabled } }))
}

/** What waits for each endpoint. */
export function progressQuery(api: OrganizationApi) {
  return queryOptions({
    queryKey: queryKey('webhooks', api, 'progress'),
    queryFn: () => answer(api.app.GET('/app/api/webhooks/progress')),
    refetchInterval: refreshMs,
  })
}
