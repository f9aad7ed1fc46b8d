import type { Api } from '../api.ts'
import type { BodyOf, QueryOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { byCursor, byTime, Pages } from '../pages.ts'

/** Groups of domains, mailboxes, templates, members and keys. */
export function brandsOf(api: Api) {
  return {
    create: (body: BodyOf<'post', '/v1/brands'>, options?: CallOptions) =>
      api.call('post', '/v1/brands', { body }, options),
    list: (options?: CallOptions) => api.call('get', '/v1/brands', {}, options),
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/brands/{id}', { path: { id } }, options),
    update: (id: string, body: BodyOf<'patch', '/v1/brands/{id}'>, options?: CallOptions) =>
      api.call('patch', '/v1/brands/{id}', { path: { id }, body }, options),
    /** Marks the brand ready. */
    provision: (id: string, options?: CallOptions) =>
      api.call('post', '/v1/brands/{id}/provision', { path: { id } }, options),
  }
}

/** The addresses that receive mail. */
export function mailboxesOf(api: Api) {
  return {
    /** Without `local_part` it takes what no other mailbox of the domain takes. */
    create: (body: BodyOf<'post', '/v1/mailboxes'>, options?: CallOptions) =>
      api.call('post', '/v1/mailboxes', { body }, options),
    list: (options?: CallOptions) => api.call('get', '/v1/mailboxes', {}, options),
    /** Its messages are kept. */
    delete: (id: string, options?: CallOptions) => api.call('delete', '/v1/mailboxes/{id}', { path: { id } }, options),
  }
}

/** The people of the organization. */
export function membersOf(api: Api) {
  return {
    list: (query: QueryOf<'get', '/v1/members'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/members', { query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/members/{id}', { path: { id } }, options),
    update: (id: string, body: BodyOf<'patch', '/v1/members/{id}'>, options?: CallOptions) =>
      api.call('patch', '/v1/members/{id}', { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => api.call('delete', '/v1/members/{id}', { path: { id } }, options),
  }
}

/** Invitations to become a member. */
export function invitationsOf(api: Api) {
  return {
    /** Its `link` is shown once. Only a request that was certainly not processed is tried again. */
    create: (body: BodyOf<'post', '/v1/invitations'>, options?: Omit<CallOptions, 'idempotencyKey'>) =>
      api.call('post', '/v1/invitations', { body }, options),
    list: (query: QueryOf<'get', '/v1/invitations'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/invitations', { query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/invitations/{id}', { path: { id } }, options),
    update: (id: string, body: BodyOf<'patch', '/v1/invitations/{id}'>, options?: CallOptions) =>
      api.call('patch', '/v1/invitations/{id}', { path: { id }, body }, options),
    /** Revokes it. */
    delete: (id: string, options?: CallOptions) =>
      api.call('delete', '/v1/invitations/{id}', { path: { id } }, options),
  }
}

/** The log of API requests. */
export function requestsOf(api: Api) {
  return {
    list: (query: QueryOf<'get', '/v1/requests'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/requests', { query: { ...query, ...more } }, options),
        next: byTime,
      }),
  }
}
