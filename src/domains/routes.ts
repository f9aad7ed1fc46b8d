import { t } from 'elysia'
import { idParamsSchema } from '../api/common-schemas.ts'
import { describeRoute } from '../api/describe.ts'
import type { Reservation } from '../api/idempotency/reservation.ts'
import { api } from '../api/route.ts'
import { type Id, stableToken } from '../base/ids.ts'
import type { DomainBlockers, DomainDeps } from './deps.ts'
import {
  checkDomain,
  checkDomainRefusals,
  createDomain,
  createDomainRefusals,
  getDomain,
  getOwnership,
  getOwnershipRefusals,
  listDomains,
  provisionDomain,
  provisionDomainRefusals,
  removeDomain,
  removeDomainRefusals,
} from './domains.ts'
import { domainRefusals } from './load-domain.ts'
import { claimReceiving, claimReceivingRefusals } from './receiving-claim.ts'
import { domainSchema, ownershipSchema, receivingSchema, removedDomainSchema } from './schema.ts'

const publishDns = t.Optional(
  t.Boolean({
    default: true,
    description: 'Publish the records if this server has access to a DNS zone that holds the domain.',
  }),
)

const brandId = t.String({
  minLength: 1,
  description: 'The brand to register it under. Required, unless the API key is restricted to a brand.',
})

/** The operations on domains. @param blockers finds what prevents the deletion of a domain */
export function domainRoutes(deps: DomainDeps, blockers: DomainBlockers) {
  return api('domains')
    .get(
      '/v1/domains/ownership',
      ({ caller, query }) => getOwnership(deps, caller, { domain: query.domain, brandId: query.brand_id }),
      {
        detail: describeRoute(
          'getOwnership',
          'Get the DNS record that proves ownership of a domain',
          getOwnershipRefusals,
        ),
        scope: 'domains:read',
        query: t.Object(
          {
            domain: t.String({ minLength: 1, maxLength: 255, description: 'The domain name.' }),
            brand_id: t.Optional(brandId),
          },
          { additionalProperties: false },
        ),
        response: ownershipSchema,
      },
    )
    .post(
      '/v1/domains',
      async ({ caller, body, reservation, status }) =>
        status(
          201,
          await createDomain(deps, caller, {
            brandId: body.brand_id,
            domain: body.domain,
            publishDns: body.publish_dns ?? true,
            ...idFor(reservation, body.domain),
          }),
        ),
      {
        detail: describeRoute('createDomain', 'Register a domain', createDomainRefusals),
        scope: 'domains:write',
        body: t.Object({
          brand_id: t.Optional(brandId),
          domain: t.String({ minLength: 1, maxLength: 255 }),
          publish_dns: publishDns,
        }),
        response: { 201: domainSchema },
      },
    )
    .get('/v1/domains', ({ caller }) => listDomains(deps, caller), {
      detail: describeRoute('listDomains', 'List domains'),
      scope: 'domains:read',
      response: t.Object({ data: t.Array(domainSchema) }),
    })
    .get('/v1/domains/:id', ({ caller, params }) => getDomain(deps, caller, params.id), {
      detail: describeRoute('getDomain', 'Get a domain', domainRefusals),
      scope: 'domains:read',
      params: idParamsSchema,
      response: domainSchema,
    })
    .delete(
      '/v1/domains/:id',
      ({ caller, params, reservation }) => removeDomain(deps, caller, params.id, blockers, reservation),
      {
        detail: describeRoute('deleteDomain', 'Delete a domain', removeDomainRefusals),
        scope: 'domains:write',
        params: idParamsSchema,
        response: removedDomainSchema,
      },
    )
    .post(
      '/v1/domains/:id/provision',
      ({ caller, params, body }) => provisionDomain(deps, caller, params.id, body.publish_dns ?? true),
      {
        detail: describeRoute('provisionDomain', 'Retry provisioning of a domain', provisionDomainRefusals),
        scope: 'domains:write',
        params: idParamsSchema,
        body: t.Object({ publish_dns: publishDns }),
        response: domainSchema,
      },
    )
    .post('/v1/domains/:id/check', ({ caller, params }) => checkDomain(deps, caller, params.id), {
      detail: describeRoute('checkDomain', 'Check the DNS records of a domain now', checkDomainRefusals),
      scope: 'domains:write',
      params: idParamsSchema,
      response: domainSchema,
    })
    .post('/v1/domains/:id/receiving', ({ caller, params }) => claimReceiving(deps, caller, params.id), {
      detail: describeRoute(
        'claimReceiving',
        'Claim receiving of mail for a domain, and check its records',
        claimReceivingRefusals,
      ),
      scope: 'domains:write',
      params: idParamsSchema,
      response: receivingSchema,
    })
}

/** The id depends on the Idempotency-Key and the domain, so that a retry finds the domain that an earlier attempt created. */
function idFor(reservation: Reservation | undefined, domain: string): { readonly id?: Id<'dom'> } {
  if (!reservation) return {}
  return { id: `dom_${stableToken(`${domain} for ${reservation.organizationId} by ${reservation.key}`)}` }
}
