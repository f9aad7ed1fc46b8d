import { t } from 'elysia'
import { idParamsSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import type { RefusalCode } from '../../base/refusal.ts'
import type { DomainDeps } from '../deps.ts'
import { changeRecord, createRecord, listRecords, removeRecord } from './managed-records/managed-records.ts'
import { publishDns } from './publish-dns.ts'
import {
  dnsSetupSchema,
  managedRecordSchema,
  newRecordSchema,
  publicationSchema,
  recordChangeSchema,
} from './schema.ts'
import { getDnsSetup } from './setup.ts'

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
export function dnsRoutes(deps: DomainDeps) {
  return api('dns')
    .post('/v1/domains/:id/publish-dns', ({ caller, params }) => publishDns(deps, caller, params.id), {
      detail: describeRoute('publishDns', 'Publish the DNS records of a domain, but MX', zoneRefusals),
      scope: 'domains:write',
      params: idParamsSchema,
      response: publicationSchema,
    })
    .get('/v1/domains/:id/dns', ({ caller, params }) => getDnsSetup(deps, caller, params.id), {
      detail: describeRoute('getDns', 'Tell what is to stand in DNS for a domain', [
        'not_found',
        'brand_restricted',
        'dns_provider_error',
      ]),
      scope: 'domains:read',
      params: idParamsSchema,
      response: dnsSetupSchema,
    })
    .get('/v1/domains/:id/dns/records', ({ caller, params, query }) => listRecords(deps, caller, params.id, query), {
      detail: describeRoute('listDnsRecords', 'List the DNS records at and below a domain', [
        ...zoneRefusals,
        'invalid_cursor',
      ]),
      scope: 'domains:read',
      params: idParamsSchema,
      query: t.Object(
        { limit: limitParamSchema, cursor: t.Optional(t.String({ minLength: 1, maxLength: 1024 })) },
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
            deps,
            caller,
            params.id,
            { ...body, ttl: body.ttl ?? 300, priority: body.priority ?? null },
            reservation,
          ),
        ),
      {
        detail: describeRoute('createDnsRecord', 'Publish a DNS record', [
          ...zoneRefusals,
          'dns_name_not_allowed',
          'dns_record_conflict',
        ]),
        scope: 'domains:write',
        params: idParamsSchema,
        body: newRecordSchema,
        response: { 201: managedRecordSchema },
      },
    )
    .patch(
      '/v1/domains/:id/dns/records/:record_id',
      ({ caller, params, body, reservation }) =>
        changeRecord(deps, caller, params.id, params.record_id, body, reservation),
      {
        detail: describeRoute('updateDnsRecord', 'Change a DNS record', [
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
      ({ caller, params, reservation }) => removeRecord(deps, caller, params.id, params.record_id, reservation),
      {
        detail: describeRoute('deleteDnsRecord', 'Delete a DNS record', [...zoneRefusals, 'record_managed']),
        scope: 'domains:write',
        params: recordParams,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}
