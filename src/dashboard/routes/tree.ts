import { accountLayoutRoute, accountRoute } from './account.ts'
import { indexRoute } from './index.ts'
import { instanceRoute } from './instance/layout.ts'
import { instanceScreens } from './instance/screens.ts'
import { invitationRoute } from './invitation.ts'
import { composeRoute, draftsRoute } from './organization/compose.ts'
import { domainRoute } from './organization/domain.ts'
import { domainsRoute } from './organization/domains.ts'
import { eventsRoute } from './organization/events.ts'
import { keysRoute } from './organization/keys.ts'
import { organizationRoute } from './organization/layout.ts'
import { mailRoute } from './organization/mail.ts'
import { mailboxesRoute } from './organization/mailboxes.ts'
import { newDomainRoute } from './organization/new-domain.ts'
import { peopleRoute } from './organization/people.ts'
import { requestsRoute } from './organization/requests.ts'
import { sentEmailRoute, sentRoute } from './organization/sent.ts'
import { settingsRoute } from './organization/settings.ts'
import { suppressionsRoute } from './organization/suppressions.ts'
import { templateRoute, templatesRoute } from './organization/templates.ts'
import { todayRoute } from './organization/today.ts'
import { webhookRoute, webhooksRoute } from './organization/webhooks.ts'
import { rootRoute } from './root.tsx'
import { signInRoute } from './sign-in.ts'
import { welcomeRoute } from './welcome.ts'

/** All routes. A screen adds its route to the house that it belongs to, a line each, in alphabetical order. */
export const routeTree = rootRoute.addChildren([
  indexRoute,
  signInRoute,
  welcomeRoute,
  invitationRoute,
  accountLayoutRoute.addChildren([accountRoute]),
  instanceRoute.addChildren(instanceScreens),
  organizationRoute.addChildren([
    composeRoute,
    domainRoute,
    domainsRoute,
    draftsRoute,
    eventsRoute,
    keysRoute,
    mailRoute,
    peopleRoute,
    requestsRoute,
    mailboxesRoute,
    newDomainRoute,
    sentEmailRoute,
    sentRoute,
    settingsRoute,
    suppressionsRoute,
    templateRoute,
    templatesRoute,
    todayRoute,
    webhookRoute,
    webhooksRoute,
  ]),
])
