import type { Api } from '../api.ts'
import { type ForwardInput, type ReplyInput, toBody } from '../attachments.ts'
import type { BodyOf, QueryOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { byMessage, Pages } from '../pages.ts'

type Reply = BodyOf<'post', '/v1/inbox/{id}/reply'>
type Forward = BodyOf<'post', '/v1/inbox/{id}/forward'>
type Folder = BodyOf<'post', '/v1/inbox/{id}/folder'>['folder']

/** Received messages. */
export function inboxOf(api: Api) {
  const list = (query: QueryOf<'get', '/v1/inbox'> = {}, options?: CallOptions) =>
    new Pages({
      fetch: (more: object) => api.call('get', '/v1/inbox', { query: { ...query, ...more } }, options),
      next: byMessage,
    })
  return {
    list,
    /** The messages of a thread, in all folders, newest first. */
    thread: (threadId: string, options?: CallOptions) => list({ thread_id: threadId }, options),
    /** The best matches of a query such as `invoice "last week" -draft`. */
    search: (q: string, query: Omit<QueryOf<'get', '/v1/inbox/search'>, 'q'> = {}, options?: CallOptions) =>
      api.call('get', '/v1/inbox/search', { query: { q, ...query } }, options),
    /** A message; it is marked read where the key may do so. */
    get: (id: string, query: QueryOf<'get', '/v1/inbox/{id}'> = {}, options?: CallOptions) =>
      api.call('get', '/v1/inbox/{id}', { path: { id }, query }, options),
    /** The message as it came, `message/rfc822`. */
    raw: (id: string, options?: CallOptions) => api.download('/v1/inbox/{id}/raw', { path: { id } }, options),
    attachment: (id: string, attachmentId: string, options?: CallOptions) =>
      api.download('/v1/inbox/{id}/attachments/{attachmentId}', { path: { id, attachmentId } }, options),
    move: (id: string, folder: Folder, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/folder', { path: { id }, body: { folder } }, options),
    star: (id: string, starred = true, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/star', { path: { id }, body: { starred } }, options),
    markRead: (id: string, read = true, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/read', { path: { id }, body: { read } }, options),
    /** Moves, stars or marks up to 200 messages. */
    change: (body: BodyOf<'post', '/v1/inbox/bulk'>, options?: CallOptions) =>
      api.call('post', '/v1/inbox/bulk', { body }, options),
    /** Moves it to the trash. */
    delete: (id: string, options?: CallOptions) => api.call('delete', '/v1/inbox/{id}', { path: { id } }, options),
    /** Moves it from the trash to the inbox. */
    restore: (id: string, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/restore', { path: { id } }, options),
    reply: (id: string, reply: ReplyInput, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/reply', { path: { id }, body: toBody<Reply>(reply) }, options),
    replyAll: (id: string, reply: ReplyInput, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/reply-all', { path: { id }, body: toBody<Reply>(reply) }, options),
    forward: (id: string, forward: ForwardInput, options?: CallOptions) =>
      api.call('post', '/v1/inbox/{id}/forward', { path: { id }, body: toBody<Forward>(forward) }, options),
  }
}
