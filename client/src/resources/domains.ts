import type { Api } from '../api.ts'
import type { BodyOf, QueryOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { byCursor, Pages } from '../pages.ts'

/** The domains that send and receive. */
export function domainsOf(api: Api) {
  return {
    /** The TXT record that proves that a domain is yours, and whether it is published. */
    ownership: (query: QueryOf<'get', '/v1/domains/ownership'>, options?: CallOptions) =>
      api.call('get', '/v1/domains/ownership', { query }, options),
    create: (body: BodyOf<'post', '/v1/domains'>, options?: CallOptions) =>
      api.call('post', '/v1/domains', { body }, options),
    list: (options?: CallOptions) => api.call('get', '/v1/domains', {}, options),
    get: (id: string, options?: CallOptions) => api.call('get', '/v1/domains/{id}', { path: { id } }, options),
    delete: (id: string, options?: CallOptions) => api.call('delete', '/v1/domains/{id}', { path: { id } }, options),
    /** Retries an enrolment with the provider that did not finish. */
    provision: (id: string, body?: BodyOf<'post', '/v1/domains/{id}/provision'>, options?: CallOptions) =>
      api.call('post', '/v1/domains/{id}/provision', { path: { id }, ...(body && { body }) }, options),
    /** Looks at the domain’s records now. */
    check: (id: string, options?: CallOptions) => api.call('post', '/v1/domains/{id}/check', { path: { id } }, options),
    /** Claims the receiving of mail; call it again until `live` is true. */
    receive: (id: string, options?: CallOptions) =>
      api.call('post', '/v1/domains/{id}/receiving', { path: { id } }, options),
    /** Publishes the records at the DNS provider, where one is configured. */
    publishDns: (id: string, options?: CallOptions) =>
      api.call('post', '/v1/domains/{id}/publish-dns', { path: { id } }, options),
    dns: (id: string, options?: CallOptions) => api.call('get', '/v1/domains/{id}/dns', { path: { id } }, options),
    records: dnsRecordsOf(api),
  }
}

/** The records of a domain at the DNS provider. */
function dnsRecordsOf(api: Api) {
  return {
    list: (id: string, query: QueryOf<'get', '/v1/domains/{id}/dns/records'> = {}, options?: CallOptions) =>
      new Pages({
        fetch: (more: object) =>
          api.call('get', '/v1/domains/{id}/dns/records', { path: { id }, query: { ...query, ...more } }, options),
        next: byCursor,
      }),
    create: (id: string, body: BodyOf<'post', '/v1/domains/{id}/dns/records'>, options?: CallOptions) =>
      api.call('post', '/v1/domains/{id}/dns/records', { path: { id }, body }, options),
    get: (id: string, recordId: string, options?: CallOptions) =>
      api.call('get', '/v1/domains/{id}/dns/records/{record_id}', { path: { id, record_id: recordId } }, options),
    update: (
      id: string,
      recordId: string,
      body: BodyOf<'patch', '/v1/domains/{id}/dns/records/{record_id}'>,
      options?: CallOptions,
    ) =>
      api.call(
        'patch',
        '/v1/domains/{id}/dns/records/{record_id}',
        { path: { id, record_id: recordId }, body },
        options,
      ),
    delete: (id: string, recordId: string, options?: CallOptions) =>
      api.call('delete', '/v1/domains/{id}/dns/records/{record_id}', { path: { id, record_id: recordId } }, options),
  }
}
