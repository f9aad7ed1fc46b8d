import type { Api } from '../api.ts'
import type { BodyOf, QueryOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { byCursor, Pages } from '../pages.ts'

/** A brand, where the key is not restricted to one. */
type InBrand = { readonly brand_id?: string }

/** Subjects and bodies with variables. */
export function templatesOf(api: Api) {
  return {
    create: (body: BodyOf<'post', '/v1/templates'>, options?: CallOptions) =>
      api.call('post', '/v1/templates', { body }, options),
    list: (query: QueryOf<'get', '/v1/templates'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/templates', { query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    get: (slug: string, query: InBrand = {}, options?: CallOptions) =>
      api.call('get', '/v1/templates/{slug}', { path: { slug }, query }, options),
    update: (slug: string, body: BodyOf<'patch', '/v1/templates/{slug}'>, query: InBrand = {}, options?: CallOptions) =>
      api.call('patch', '/v1/templates/{slug}', { path: { slug }, query, body }, options),
    delete: (slug: string, query: InBrand = {}, options?: CallOptions) =>
      api.call('delete', '/v1/templates/{slug}', { path: { slug }, query }, options),
    /** Renders it. */
    preview: (slug: string, body: BodyOf<'post', '/v1/templates/{slug}/preview'> = {}, options?: CallOptions) =>
      api.call('post', '/v1/templates/{slug}/preview', { path: { slug }, body }, options),
  }
}

/** Unsent text messages. */
export function draftsOf(api: Api) {
  return {
    create: (body: BodyOf<'post', '/v1/drafts'> = {}, options?: CallOptions) =>
      api.call('post', '/v1/drafts', { body }, options),
    list: (query: QueryOf<'get', '/v1/drafts'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/drafts', { query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/drafts/{id}', { path: { id } }, options),
    update: (id: string, body: BodyOf<'patch', '/v1/drafts/{id}'>, options?: CallOptions) =>
      api.call('patch', '/v1/drafts/{id}', { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => api.call('delete', '/v1/drafts/{id}', { path: { id } }, options),
    /** Sends it; the draft is gone then. */
    send: (id: string, options?: CallOptions) => api.call('post', '/v1/drafts/{id}/send', { path: { id } }, options),
  }
}

/** Recipients that emails are no longer sent to. */
export function suppressionsOf(api: Api) {
  return {
    list: (query: QueryOf<'get', '/v1/suppressions'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) => api.call('get', '/v1/suppressions', { query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    create: (body: BodyOf<'post', '/v1/suppressions'>, options?: CallOptions) =>
      api.call('post', '/v1/suppressions', { body }, options),
    check: (email: string, query: InBrand = {}, options?: CallOptions) =>
      api.call('get', '/v1/suppressions/check', { query: { email, ...query } }, options),
    delete: (email: string, query: InBrand = {}, options?: CallOptions) =>
      api.call('delete', '/v1/suppressions/{email}', { path: { email }, query }, options),
  }
}
