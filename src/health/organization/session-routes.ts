import { describeRoute } from '../../api/describe.ts'
import type { Scope } from '../../api/scope.ts'
import type { SessionMember } from '../../api/session/session.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import type { OrganizationHealthDeps } from './lamps.ts'
import { type StatusLamp, statusSchema, type Today, todaySchema } from './schema.ts'
import { openOrganizationHealth } from './today.ts'

/** What is wrong in an organization, and its screen Today. A member sees of them what their permissions allow. */
export function organizationHealthRoutes(deps: OrganizationHealthDeps) {
  const health = openOrganizationHealth(deps)
  return sessionApi('organization-health')
    .get(
      '/app/api/status',
      async ({ member }) => ({ data: visibleLamps(await health.lamps(tenantOf(member)), member) }),
      {
        detail: describeRoute('getOrganizationStatus', 'What is wrong in the organization', sessionRefusals),
        member: 'session',
        response: statusSchema,
      },
    )
    .get('/app/api/today', async ({ member }) => visibleToday(await health.today(tenantOf(member)), member), {
      detail: describeRoute('getToday', 'What comes in, what goes out, and what needs somebody', sessionRefusals),
      member: 'session',
      response: todaySchema,
    })
}

const mostEvents = 10

function tenantOf({ organizationId, brandId }: SessionMember) {
  return { organizationId, brandId }
}

/** The permission that shows each lamp; null: the lamp is of the whole organization, and shown to owners and admins. */
const scopeOfLamp: Readonly<Record<StatusLamp['name'], Scope | null>> = {
  domains_not_ready: 'domains:read',
  emails_unconfirmed: 'email:read',
  bounces_high: 'email:read',
  brands_paused: 'email:read',
  quarantine_waiting: 'inbox:read',
  webhooks_disabled: 'webhooks:read',
  quota_high: null,
}

function visibleLamps(lamps: readonly StatusLamp[], member: SessionMember): StatusLamp[] {
  return lamps.filter(({ name }) => {
    const scope = scopeOfLamp[name]
    return scope === null ? member.brandIds === null : member.scopes.has(scope)
  })
}

function visibleToday(today: Today, member: SessionMember): Today {
  const seesMessages = member.scopes.has('inbox:read')
  const seesEmails = member.scopes.has('email:read')
  return {
    ...today,
    hours: today.hours.map(hour => ({
      ...hour,
      received: seesMessages ? hour.received : null,
      accepted: seesEmails ? hour.accepted : null,
    })),
    statuses: seesEmails ? today.statuses : null,
    attention: visibleLamps(today.attention, member),
    events: today.events.filter(event => (event.kind === 'message' ? seesMessages : seesEmails)).slice(0, mostEvents),
  }
}
