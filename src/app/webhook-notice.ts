import { selectOwnerEmails } from '../accounts/members/table.ts'
import { type Clock, dayMs, hourMs, plusMs } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import { Refusal } from '../base/refusal.ts'
import { selectDomains } from '../domains/table.ts'
import type { UnrequestedReason } from '../events/webhooks/disabled-reason.ts'
import { lockWebhook, type OwedNotice, selectDueNotices, updateNoticeDue } from '../events/webhooks/table.ts'
import type { SingleUseItem } from '../sending/accept/candidate.ts'
import type { SendDeps } from '../sending/accept/open-sending.ts'
import type { SendEmail } from '../sending/emails/schema.ts'
import { send } from '../sending/send.ts'

const maxOwners = 10
const noticesPerRound = 20
/** The wait after a notice that could not be sent. */
const retryMs = hourMs
/** After so long the owners have seen the dashboard, or nobody reads their mail. */
const giveUpMs = 3 * dayMs

const becauseOf: Readonly<Record<UnrequestedReason, string>> = {
  failing: 'none of its attempts has succeeded for five days',
  gone: 'it responded 410 Gone, which asks for no further deliveries',
  not_allowed: 'the API key or member that made it may no longer see its events',
}

export interface WebhookNoticeDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly sending: SendDeps
}

/**
 * Sends the emails that are due to owners of organizations whose webhooks were disabled. An email is the organization's own,
 * from the first of its domains that is verified, since the instance has no address to send from. Each is owed from the
 * transaction that disabled the webhook until the one that accepts the email, so that it is sent once, whichever process ends
 * between the two. One that cannot be sent, for want of an owner or a verified domain too, is tried again for three days: the
 * event, the audit entry, doctor and the dashboard show it meanwhile.
 */
export async function sendDueNotices(deps: WebhookNoticeDeps, signal: AbortSignal): Promise<'more' | 'done'> {
  const due = await selectDueNotices(deps.db, deps.clock.now(), noticesPerRound)
  for (const notice of due) {
    if (signal.aborted) break
    const obstacle = await trySend(deps, notice)
    if (obstacle !== null) await putOff(deps, notice, obstacle)
  }
  return due.length === noticesPerRound ? 'more' : 'done'
}

/** Why a notice could not be sent; `error`: it may be a bug. */
interface Obstacle {
  readonly reason: string
  readonly error?: unknown
}

/** null: the email was accepted, or is not owed any more. */
async function trySend({ db, sending }: WebhookNoticeDeps, notice: OwedNotice): Promise<Obstacle | null> {
  const { organization_id: organizationId } = notice
  try {
    const owners = await selectOwnerEmails(db, organizationId, maxOwners)
    if (owners.length === 0) return { reason: 'no_owner' }
    const domain = await findVerifiedDomain(db, notice)
    if (domain === undefined) return { reason: 'no_verified_domain' }
    const sender = { organizationId, brandId: null, keyId: null }
    await send({ sender, fields: writeEmail(notice, owners, domain), consumes: singleUse(notice) }, sending)
    return null
  } catch (error) {
    if (error instanceof NoticeSettledError) return null
    return error instanceof Refusal ? { reason: error.code } : { reason: 'failed', error }
  }
}

async function findVerifiedDomain(db: Db, { organization_id }: OwedNotice): Promise<string | undefined> {
  const verified = (await selectDomains(db, organization_id, null)).filter(domain => domain.status === 'verified')
  return verified.toSorted((a, b) => (a.id < b.id ? -1 : 1))[0]?.domain
}

function writeEmail({ id, url, disabled_reason }: OwedNotice, owners: readonly string[], domain: string): SendEmail {
  const { host } = new URL(url)
  const text = [
    `The webhook ${id} to ${host} is disabled: ${becauseOf[disabled_reason]}.`,
    'Its events wait, as long as events are kept. Once the endpoint works again, enable it in the dashboard (Webhooks), or with',
    `PATCH /v1/webhooks/${id} {"enabled": true}: it goes on with the first event that was not delivered.`,
  ].join('\n\n')
  return {
    from: `Mailroom <mailroom@${domain}>`,
    to: [...owners],
    subject: `A webhook is disabled: ${host}`,
    text,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/** Another process has sent the notice, or the webhook was enabled or deleted, since it was read. */
class NoticeSettledError extends Refusal {}

function singleUse(notice: OwedNotice): SingleUseItem {
  return {
    id: notice.id,
    lock: async db => (await lockWebhook(db, notice.id))?.notice_due_at === notice.notice_due_at,
    refuse: () =>
      new NoticeSettledError('not_found', {
        message: `The notice about the webhook ${notice.id} is not owed any more.`,
      }),
    remove: db => updateNoticeDue(db, notice, null),
  }
}

async function putOff({ db, clock, log }: WebhookNoticeDeps, notice: OwedNotice, obstacle: Obstacle): Promise<void> {
  const now = clock.now()
  const isLast = plusMs(notice.disabled_at, giveUpMs) <= now
  await updateNoticeDue(db, notice, isLast ? null : plusMs(now, retryMs))
  const fields = { webhook_id: notice.id, reason: obstacle.reason }
  const outcome = isLast ? 'it is given up' : 'it is tried again'
  const event = `could not notify the owners that a webhook is disabled; ${outcome}`
  if (obstacle.error === undefined) log.info(fields, event)
  else log.error({ ...fields, err: obstacle.error }, event)
}
