import { t } from 'elysia'
import { idParamsSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import type { DomainDeps } from '../deps.ts'
import {
  changeRecord,
  changeRecordRefusals,
  createRecord,
  createRecordRefusals,
  getRecord,
  listRecords,
  listRecordsRefusals,
  removeRecord,
  removeRecordRefusals,
} from '../managed-records/managed-records.ts'
import { publishDns, publishDnsRefusals } from './publish.ts'
import {
  dnsSetupSchema,
  managedRecordSchema,
  newRecordSchema,
  publicationSchema,
  recordChangeSchema,
} from './schema.ts'
import { dnsSetupRefusals, getDnsSetup } from './setup.ts'

const recordParams = t.Object({ id: t.String({ minLength: 1 }), record_id: t.String({ minLength: 1 }) })

/** The operations on a domain's DNS records. */
export function dnsRoutes(deps: DomainDeps) {
  return api('dns')
    .post('/v1/domains/:id/publish-dns', ({ caller, params }) => publishDns(deps, caller, params.id), {
      detail: describeRoute('publishDns', 'Publish the DNS records of a domain, except MX', publishDnsRefusals),
      scope: 'domains:write',
      params: idParamsSchema,
      response: publicationSchema,
    })
    .get('/v1/domains/:id/dns', ({ caller, params }) => getDnsSetup(deps, caller, params.id), {
      detail: describeRoute('getDns', 'Get the DNS records that a domain needs', dnsSetupRefusals),
      scope: 'domains:read',
      params: idParamsSchema,
      response: dnsSetupSchema,
    })
    .get('/v1/domains/:id/dns/records', ({ caller, params, query }) => listRecords(deps, caller, params.id, query), {
      detail: describeRoute('listDnsRecords', 'List the DNS records at and below a domain', listRecordsRefusals),
      scope: 'domains:read',
      params: idParamsSchema,
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }, { additionalProperties: false }),
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
        detail: describeRoute('createDnsRecord', 'Publish a DNS record', createRecordRefusals),
        scope: 'domains:write',
        params: idParamsSchema,
        body: newRecordSchema,
        response: { 201: managedRecordSchema },
      },
    )
    .get(
      '/v1/domains/:id/dns/records/:record_id',
      ({ caller, params }) => getRecord(deps, caller, params.id, params.record_id),
      {
        detail: describeRoute('getDnsRecord', 'Get a DNS record', listRecordsRefusals),
        scope: 'domains:read',
        params: recordParams,
        response: managedRecordSchema,
      },
    )
    .patch(
      '/v1/domains/:id/dns/records/:record_id',
      ({ caller, params, body, reservation }) =>
        changeRecord(deps, caller, params.id, params.record_id, body, reservation),
      {
        detail: describeRoute('updateDnsRecord', 'Change a DNS record', changeRecordRefusals),
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
        detail: describeRoute('deleteDnsRecord', 'Delete a DNS record', removeRecordRefusals),
        scope: 'domains:write',
        params: recordParams,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}
