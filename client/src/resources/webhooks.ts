import type { Api } from '../api.ts'
import type { BodyOf, QueryOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { byCursor, Pages } from '../pages.ts'

/** Addresses that Mailroom delivers events to. */
export function webhooksOf(api: Api) {
  return {
    /** Its `secret` is shown once. Only a request that was certainly not processed is tried again. */
    create: (body: BodyOf<'post', '/v1/webhooks'>, options?: CallOptions) =>
      api.call('post', '/v1/webhooks', { body }, options),
    list: (options?: CallOptions) => api.call('get', '/v1/webhooks', {}, options),
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/webhooks/{id}', { path: { id } }, options),
    /** `enabled: true` goes on where deliveries stopped. */
    update: (id: string, body: BodyOf<'patch', '/v1/webhooks/{id}'>, options?: CallOptions) =>
      api.call('patch', '/v1/webhooks/{id}', { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => api.call('delete', '/v1/webhooks/{id}', { path: { id } }, options),
    /** Gives it a new secret, which is shown once; for a while both sign. */
    rotateSecret: (id: string, body: BodyOf<'post', '/v1/webhooks/{id}/rotate-secret'> = {}, options?: CallOptions) =>
      api.call('post', '/v1/webhooks/{id}/rotate-secret', { path: { id }, body }, options),
    /** Sends a test event, and gives what came back. */
    test: (id: string, options?: CallOptions) => api.call('post', '/v1/webhooks/{id}/test', { path: { id } }, options),
    deliveries: (id: string, query: QueryOf<'get', '/v1/webhooks/{id}/deliveries'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) =>
          api.call('get', '/v1/webhooks/{id}/deliveries', { path: { id }, query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    /** Makes a delivery again now. */
    retryDelivery: (id: string, deliveryId: string, options?: CallOptions) =>
      api.call(
        'post',
        '/v1/webhooks/{id}/deliveries/{delivery_id}/retry',
        { path: { id, delivery_id: deliveryId } },
        options,
      ),
    /** Delivers past events again; with `next_cursor` in the answer there are more. */
    replay: (id: string, body: BodyOf<'post', '/v1/webhooks/{id}/replay'>, options?: CallOptions) =>
      api.call('post', '/v1/webhooks/{id}/replay', { path: { id }, body }, options),
  }
}
