import type { AnyElysia } from 'elysia'
import { sessionAuditRoutes } from '../accounts/audit/session-routes.ts'
import { sessionKeyRoutes } from '../accounts/keys/session-routes.ts'
import { sessionOrganizationRoutes } from '../accounts/organizations/session-routes.ts'
import { sessionPeopleRoutes } from '../accounts/people/session-routes.ts'
import { sessionLinkRoutes, sessionRoutes } from '../accounts/sessions/session-routes.ts'
import { accountRoutes, factorRoutes } from '../accounts/users/session-routes.ts'
import { mailboxSessionRoutes } from '../domains/mailboxes/session-routes.ts'
import { domainSessionRoutes } from '../domains/session-routes.ts'
import { eventSessionRoutes } from '../events/session-routes.ts'
import { webhookSessionRoutes } from '../events/webhooks/session-routes.ts'
import { organizationHealthRoutes } from '../health/organization/session-routes.ts'
import { senderSessionRoutes } from '../inbox/senders/session-routes.ts'
import { inboxSessionRoutes } from '../inbox/session-routes.ts'
import { viewRoutes } from '../inbox/view/session-routes.ts'
import type { ProviderTraits } from '../ports/provider/port.ts'
import { organizationRetentionRoutes } from '../retention/organization-session-routes.ts'
import type { RetentionSettings } from '../retention/policies/kinds.ts'
import { sentEmailRoutes } from '../sending/emails/session-routes.ts'
import { defaultUnconfirmedMs } from '../sending/emails/unconfirmed.ts'
import { selectPausedBrands } from '../sending/reports/pause-table.ts'
import { sessionSuppressionRoutes } from '../sending/suppressions/session-routes.ts'
import { templateSessionRoutes } from '../sending/templates/session-routes.ts'
import type { Live } from '../servers/http/live/live.ts'
import { liveRoutes } from '../servers/http/live/routes.ts'
import type { HttpFeatureDeps } from './http-features.ts'

/** What the routes of the dashboard depend on. */
export interface DashboardFeatureDeps extends Pick<HttpFeatureDeps, 'domains' | 'inbox' | 'sending'> {
  /** The provider that sends now. */
  readonly provider: ProviderTraits
  readonly retention: RetentionSettings
  readonly live: Live
}

/**
 * The routes of the dashboard alone, below `/app/api`, an Elysia instance for each feature. Those of the API serve the
 * dashboard too, below `/app/api/v1`.
 */
export function dashboardFeatures(deps: DashboardFeatureDeps): readonly AnyElysia[] {
  const { domains, inbox, sending, provider, retention, live } = deps
  const { db, clock } = domains
  const { unconfirmedMs = defaultUnconfirmedMs, renderer } = sending
  return [
    liveRoutes(live),
    viewRoutes({ ...inbox, sending }),
    sessionRoutes(domains),
    sessionLinkRoutes(domains),
    accountRoutes(domains),
    factorRoutes(domains),
    domainSessionRoutes(domains),
    mailboxSessionRoutes({ db }),
    inboxSessionRoutes(inbox),
    senderSessionRoutes({ db, clock }),
    sessionKeyRoutes({ db, clock }),
    sessionPeopleRoutes({ db, clock }),
    sessionOrganizationRoutes({ db, clock, pausedBrands: selectPausedBrands }),
    sessionAuditRoutes({ db }),
    sessionSuppressionRoutes({ db, clock }),
    eventSessionRoutes({ db }),
    webhookSessionRoutes({ db }),
    organizationRetentionRoutes({ db, clock, settings: retention }),
    organizationHealthRoutes({ db, clock, unconfirmedMs, reports: provider.reports }),
    sentEmailRoutes({ db, clock, unconfirmedMs, provider }),
    templateSessionRoutes({ renderer }),
  ]
}
