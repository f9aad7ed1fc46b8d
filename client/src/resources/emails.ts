import type { Api } from '../api.ts'
import { type EmailInput, toBody } from '../attachments.ts'
import type { components } from '../generated/api.ts'
import type { BodyOf, QueryOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { byTime, Pages } from '../pages.ts'

type SendEmail = BodyOf<'post', '/v1/emails'>
/** What became of each email of a batch. */
type BatchResult = components['schemas']['SendBatchResult']

export interface BatchOptions extends CallOptions {
  /** What a refused email means for those behind it: `continue` (the default) tries them, `stop` leaves them out. */
  readonly onError?: 'continue' | 'stop'
}

/** Sent emails. */
export function emailsOf(api: Api) {
  return {
    /** Accepts an email for delivery; `get` shows what becomes of it. */
    send: (email: EmailInput, options?: CallOptions) =>
      api.call('post', '/v1/emails', { body: toBody<SendEmail>(email) }, options),
    /** Up to 100 emails with one request: each is accepted, or refused with an `error` of its own. */
    sendBatch: (emails: readonly EmailInput[], { onError, ...options }: BatchOptions = {}): Promise<BatchResult> => {
      const body = { emails: emails.map(toBody<SendEmail>), ...(onError && { on_error: onError }) }
      // A list alone would be answered in another form.
      return api.call('post', '/v1/emails/batch', { body }, options) as Promise<BatchResult>
    },
    list: (query: QueryOf<'get', '/v1/emails'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/emails', { query: { ...query, ...more } }, options),
        next: byTime,
      }),
    /** An email with its recipients, its status and its delivery events. */
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/emails/{id}', { path: { id } }, options),
    /** The delivery events of an email. */
    events: async (id: string, options?: CallOptions) =>
      (await api.call('get', '/v1/emails/{id}', { path: { id } }, options)).events,
    content: (id: string, options?: CallOptions) =>
      api.call('get', '/v1/emails/{id}/content', { path: { id } }, options),
    attachment: (id: string, attachmentId: string, options?: CallOptions) =>
      api.download(
        '/v1/emails/{id}/attachments/{attachment_id}',
        { path: { id, attachment_id: attachmentId } },
        options,
      ),
    /** Cancels an email that is scheduled. */
    cancel: (id: string, options?: CallOptions) =>
      api.call('post', '/v1/emails/{id}/cancel', { path: { id } }, options),
  }
}
