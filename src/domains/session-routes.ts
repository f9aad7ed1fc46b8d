import { t } from 'elysia'
import { dateTimeSchema, idParamsSchema, nullable, oneOf } from '../api/common-schemas.ts'
import { describeRoute } from '../api/describe.ts'
import { memberScopeRefusals, requireMemberScope } from '../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../api/session/session-route.ts'
import { toIso } from '../base/clock.ts'
import type { DomainDeps } from './deps.ts'
import { selectDkimKeys } from './dkim/table.ts'
import { domainRefusals, loadDomain } from './load-domain.ts'
import { selectPolicy } from './mta-sts/table.ts'

const securitySchema = t.Object({
  dkim_keys: t.Array(
    t.Object({
      selector: t.String(),
      state: oneOf(['next', 'signing', 'retiring'], {
        description:
          '`next`: signs once its record is found; `retiring`: signs no more, and stays published for a while.',
      }),
      created_at: dateTimeSchema,
      state_since: dateTimeSchema,
    }),
  ),
  mta_sts: nullable(
    t.Object({
      mode: oneOf(['none', 'testing', 'enforce']),
      changed_at: dateTimeSchema,
    }),
  ),
})

/** The keys and the policy of a domain, which programs have no use for. */
export function domainSessionRoutes({ db }: Pick<DomainDeps, 'db'>) {
  return sessionApi('domain-security').get(
    '/app/api/domains/:id/security',
    async ({ member, params }) => {
      requireMemberScope(member, 'domains:read')
      const domain = await loadDomain(db, member, params.id)
      const [keys, policy] = await Promise.all([selectDkimKeys(db, domain.id), selectPolicy(db, domain.domain)])
      return {
        dkim_keys: keys.map(key => ({
          selector: key.selector,
          state: key.state,
          created_at: toIso(key.created_at),
          state_since: toIso(key.state_since ?? key.created_at),
        })),
        mta_sts: policy ? { mode: policy.mode, changed_at: toIso(policy.changed_at) } : null,
      }
    },
    {
      detail: describeRoute('getDomainSecurity', "Get a domain's DKIM keys and MTA-STS policy", [
        ...sessionRefusals,
        ...memberScopeRefusals,
        ...domainRefusals,
      ]),
      member: 'session',
      params: idParamsSchema,
      response: securitySchema,
    },
  )
}
