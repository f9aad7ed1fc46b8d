import { selectOwnerEmails } from '../accounts/members/table.ts'
import type { Db } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import { selectDomains } from '../domains/table.ts'
import type { DisabledReason } from '../events/webhooks/disable.ts'
import type { WebhookRow } from '../events/webhooks/table.ts'
import type { SendDeps } from '../sending/accept/open-sending.ts'
import { send } from '../sending/send.ts'

const maxOwners = 10

const becauseOf: Readonly<Record<DisabledReason, string>> = {
  failing: 'none of its attempts has succeeded for five days',
  gone: 'it responded 410 Gone, which asks for no further deliveries',
  not_allowed: 'the API key or member that made it may no longer see its events',
  requested: 'somebody asked for it',
  operator: 'the operator of this server disabled it',
}

export interface WebhookNoticeDeps {
  readonly db: Db
  readonly log: Log
  readonly sending: SendDeps
}

/**
 * Tells the owners of an organization by email that one of its webhooks was disabled. The email is the organization's own, from
 * the first of its domains that is verified, since the instance has no address to send from. Without one nobody is told: the
 * event, the audit entry, doctor and the dashboard say it too.
 */
export async function notifyOwners(
  { db, log, sending }: WebhookNoticeDeps,
  webhook: WebhookRow,
  reason: DisabledReason,
): Promise<void> {
  const { organization_id: organizationId, id, url } = webhook
  const owners = await selectOwnerEmails(db, organizationId, maxOwners)
  const verified = (await selectDomains(db, organizationId, null)).filter(domain => domain.status === 'verified')
  const [domain] = verified.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (owners.length === 0 || !domain) {
    log.info({ webhook_id: id }, 'nobody was notified that a webhook is disabled: no owner, or no verified domain')
    return
  }
  const { host } = new URL(url)
  const text = [
    `The webhook ${id} to ${host} is disabled: ${becauseOf[reason]}.`,
    'Its events wait, as long as events are kept. Once the endpoint works again, enable it in the dashboard (Webhooks), or with',
    `PATCH /v1/webhooks/${id} {"enabled": true}: it goes on with the first event that was not delivered.`,
  ].join('\n\n')
  await send(
    {
      sender: { organizationId, brandId: null, keyId: null },
      fields: {
        from: `Mailroom <mailroom@${domain.domain}>`,
        to: [...owners],
        subject: `A webhook is disabled: ${host}`,
        text,
        headers: { 'Auto-Submitted': 'auto-generated' },
      },
    },
    sending,
  )
}
