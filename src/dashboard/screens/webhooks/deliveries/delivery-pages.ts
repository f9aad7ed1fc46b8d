import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer } from '../../../api/client.ts'
import { queryKey } from '../../../api/keys.ts'
import { showToast } from '../../../components/overlays/toasts.ts'
import { type Pages, usePages } from '../../../hooks/pages.ts'
import { useWebhookApi } from '../useWebhookApi.ts'
import type { Delivery } from '../webhook.ts'
import { type DeliveryFilter, filterParams } from './delivery-filter.ts'
import { deliveryStrings as strings } from './strings.ts'

/** Attempts are no events, of which the page would hear. */
const refetchMs = 5_000

/** The deliveries of an endpoint, newest first. */
export function useDeliveries(webhookId: string, filter: DeliveryFilter): Pages<Delivery> {
  const api = useWebhookApi()
  return usePages<Delivery>(
    queryKey('webhooks', api, webhookId, 'deliveries', filter),
    cursor =>
      answer(
        api.v1.GET('/v1/webhooks/{id}/deliveries', {
          params: {
            path: { id: webhookId },
            query: { ...filterParams(filter), ...(cursor !== undefined && { cursor }) },
          },
        }),
      ),
    { refetchMs },
  )
}

/** Sends one event again, now. */
export function useRetry(webhookId: string) {
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (delivery: string) =>
      answer(
        api.v1.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/retry', {
          params: { path: { id: webhookId, delivery_id: delivery } },
        }),
      ),
    onSuccess: () => {
      showToast(strings.retried)
      return queryClient.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
}
