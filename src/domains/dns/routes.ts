import { t } from 'elysia'
import { idParams, nullable } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import type { RefusalCode } from '../../base/refusal.ts'
import type { DomainsUse } from '../deps.ts'
import { changeRecord, createRecord, listRecords, removeRecord } from './managed-records.ts'
import { publishDns } from './publish-dns.ts'
import {
  dnsSetupSchema,
  managedRecordSchema,
  newRecordSchema,
  publicationSchema,
  recordChangeSchema,
} from './schema.ts'
import { readDnsSetup } from './setup.ts'

const recordParams = t.Object({ id: t.String({ minLength: 1 }), record_id: t.String({ minLength: 1 }) })

/** The refusals of every operation that reads or writes a domain's zone. */
const zoneRefusals: readonly RefusalCode[] = [
  'not_found',
  'brand_restricted',
  'dns_provider_not_configured',
  'dns_zone_not_accessible',
  'dns_provider_error',
  'ownership_not_verified',
  'dns_unavailable',
]

/** The operations on what stands in DNS for a domain. */
export function dnsRoutes(use: DomainsUse) {
  return api('dns')
    .post('/v1/domains/:id/publish-dns', ({ caller, params }) => publishDns(use, caller, params.id), {
      detail: says('publishDns', 'Publish the DNS records of a domain, but MX', zoneRefusals),
      scope: 'domains:write',
      params: idParams,
      response: publicationSchema,
    })
    .get('/v1/domains/:id/dns', ({ caller, params }) => readDnsSetup(use, caller, params.id), {
      detail: says('getDns', 'Tell what is to stand in DNS for a domain', [
        'not_found',
        'brand_restricted',
        'dns_provider_error',
      ]),
      scope: 'domains:read',
      params: idParams,
      response: dnsSetupSchema,
    })
    .get('/v1/domains/:id/dns/records', ({ caller, params, query }) => listRecords(use, caller, params.id, query), {
      detail: says('listDnsRecords', 'List the DNS records at and below a domain', [...zoneRefusals, 'invalid_cursor']),
      scope: 'domains:read',
      params: idParams,
      query: t.Object(
        { limit: limitParam, cursor: t.Optional(t.String({ minLength: 1, maxLength: 1024 })) },
        { additionalProperties: false },
      ),
      response: t.Object({ data: t.Array(managedRecordSchema), next_cursor: nullable(t.String()) }),
    })
    .post(
      '/v1/domains/:id/dns/records',
      async ({ caller, params, body, reservation, status }) =>
        status(
          201,
          await createRecord(
            use,
            caller,
            params.id,
            { ...body, ttl: body.ttl ?? 300, priority: body.priority ?? null },
            reservation,
          ),
        ),
      {
        detail: says('createDnsRecord', 'Publish a DNS record', [
          ...zoneRefusals,
          'dns_name_not_allowed',
          'dns_record_conflict',
        ]),
        scope: 'domains:write',
        params: idParams,
        body: newRecordSchema,
        response: { 201: managedRecordSchema },
      },
    )
    .patch(
      '/v1/domains/:id/dns/records/:record_id',
      ({ caller, params, body, reservation }) =>
        changeRecord(use, caller, params.id, params.record_id, body, reservation),
      {
        detail: says('updateDnsRecord', 'Change a DNS record', [
          ...zoneRefusals,
          'record_managed',
          'dns_name_not_allowed',
          'dns_record_conflict',
        ]),
        scope: 'domains:write',
        params: recordParams,
        body: recordChangeSchema,
        response: managedRecordSchema,
      },
    )
    .delete(
      '/v1/domains/:id/dns/records/:record_id',
      ({ caller, params, reservation }) => removeRecord(use, caller, params.id, params.record_id, reservation),
      {
        detail: says('deleteDnsRecord', 'Delete a DNS record', [...zoneRefusals, 'record_managed']),
        scope: 'domains:write',
        params: recordParams,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}
