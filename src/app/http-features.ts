import type { AnyElysia } from 'elysia'
import { brandRoutes } from '../accounts/brands/routes.ts'
import { invitationLinkRoutes, invitationRoutes } from '../accounts/invitations/routes.ts'
import { memberRoutes } from '../accounts/members/routes.ts'
import { requestRoutes } from '../accounts/request-log/routes.ts'
import type { RequestLog } from '../accounts/request-log/writer.ts'
import type { Log } from '../base/observability/log.ts'
import type { DomainBlockers, DomainDeps } from '../domains/deps.ts'
import { dnsRoutes } from '../domains/dns/routes.ts'
import { mailboxRoutes } from '../domains/mailboxes/routes.ts'
import { mtaStsRoutes } from '../domains/mta-sts/routes.ts'
import { domainRoutes } from '../domains/routes.ts'
import type { EventFeed } from '../events/feed.ts'
import { eventRoutes } from '../events/routes.ts'
import type { AttemptDeps } from '../events/webhooks/dispatch/attempt.ts'
import { webhookRoutes } from '../events/webhooks/routes.ts'
import type { WebhookDeps } from '../events/webhooks/webhooks.ts'
import { receivedMessages } from '../inbox/reply/received-messages.ts'
import { replyRoutes } from '../inbox/reply/routes.ts'
import { type InboxDeps, inboxRoutes } from '../inbox/routes.ts'
import type { ProviderWebhook } from '../ports/provider/webhooks/webhook.ts'
import type { SendDeps } from '../sending/accept/open-sending.ts'
import { countUnsent } from '../sending/accept/table.ts'
import { batchRoutes } from '../sending/batch/routes.ts'
import { draftRoutes } from '../sending/drafts/routes.ts'
import { emailRoutes } from '../sending/emails/routes.ts'
import { providerRoutes } from '../sending/reports/routes.ts'
import { suppressionRoutes } from '../sending/suppressions/routes.ts'
import { unsubscribeRoutes } from '../sending/suppressions/unsubscribe-routes.ts'
import { templateRoutes } from '../sending/templates/routes.ts'

/** What the features of the HTTP API depend on. */
export interface HttpFeatureDeps {
  readonly domains: DomainDeps
  readonly sending: SendDeps
  readonly inbox: InboxDeps
  readonly requestLog: RequestLog
  readonly eventFeed: EventFeed
  readonly webhooks: readonly ProviderWebhook[]
  /** The webhooks of organizations, which deliver events. */
  readonly eventWebhooks: WebhookDeps & AttemptDeps
  readonly log: Log
  /** Where links lead, without a final slash. */
  readonly publicUrl: string
  /** MAILROOM_HOSTNAME, as in MX records. */
  readonly hostname: string
}

/** The routes of all features, an Elysia instance for each; the OpenAPI document is generated from them. */
export function httpFeatures(deps: HttpFeatureDeps): readonly AnyElysia[] {
  const { domains, sending, inbox, requestLog, eventFeed, publicUrl, hostname, webhooks, eventWebhooks, log } = deps
  const { db, clock } = domains
  const unsent: DomainBlockers = async (tx, domainId) => {
    const count = await countUnsent(tx, domainId)
    return count === 0 ? [] : [count === 1 ? '1 queued email' : `${count} queued emails`]
  }
  return [
    brandRoutes({ db, clock }),
    memberRoutes({ db, clock }),
    invitationRoutes({ db, clock, publicUrl }),
    invitationLinkRoutes({ db, clock }),
    domainRoutes(domains, unsent),
    dnsRoutes(domains),
    mailboxRoutes(domains),
    mtaStsRoutes({ db, mx: hostname }),
    emailRoutes(sending),
    batchRoutes(sending),
    suppressionRoutes({ db, clock }),
    unsubscribeRoutes({ db, clock }),
    providerRoutes({ db, clock, webhooks, log }),
    inboxRoutes(inbox),
    replyRoutes({ ...inbox, sending }),
    templateRoutes({ db, clock, renderer: sending.renderer }),
    draftRoutes(sending, receivedMessages(inbox)),
    requestRoutes({ db, requestLog }),
    eventRoutes(eventFeed),
    webhookRoutes(eventWebhooks),
  ]
}
