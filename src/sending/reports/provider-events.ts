import { createHash } from 'node:crypto'
import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { maxSignatureAgeMs, type ProviderEvent } from '../../ports/provider/webhooks/webhook.ts'
import { selectRecipients } from '../events/table.ts'
import { suppress } from '../suppressions/suppress.ts'
import { type BounceClass, classifyBounce } from './classify-bounce.ts'
import { type DeliveryReport, recordReports } from './reports.ts'
import { deleteTokens, insertToken, selectReportedEmails } from './table.ts'

export interface ProviderEventsDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
}

const eventsPerTransaction = 100

const eventsTotal = counter(
  'mailroom_provider_news_total',
  'Events that providers reported: recorded, repeated, or unknown (of no email of this Mailroom).',
  ['provider', 'result'],
)

/** Events that this process got from providers since it began, by provider and result. */
export async function countProviderEvents(): Promise<readonly ProviderEventCount[]> {
  const { values } = await eventsTotal.get()
  return values.map(({ labels, value }) => ({
    provider: String(labels.provider),
    result: String(labels.result),
    count: value,
  }))
}

/** How many events of a provider had this result: `recorded`, `repeated`, `unknown` or, with a bad signature, `refused`. */
export interface ProviderEventCount {
  readonly provider: string
  readonly result: string
  readonly count: number
}

/**
 * Records a provider's events, once each and in any order, and suppresses recipients where that follows. An event that
 * names no sent email with that recipient changes nothing. When it fails half way, it may be called again with the same
 * events.
 */
export async function recordProviderEvents(
  deps: ProviderEventsDeps,
  provider: string,
  events: readonly ProviderEvent[],
): Promise<void> {
  for (let i = 0; i < events.length; i += eventsPerTransaction) {
    const batch = events.slice(i, i + eventsPerTransaction)
    const recorded = await inTransaction(deps.db, tx => recordBatch(tx, provider, batch, deps.clock.now()))
    for (const { event, emailId, isNew } of recorded) {
      eventsTotal.inc({ provider, result: isNew ? 'recorded' : 'repeated' })
      deps.log.info({ email_id: emailId, provider, type: event.type, is_new: isNew }, 'recorded provider event')
    }
    const unknown = batch.length - recorded.length
    if (unknown > 0) eventsTotal.inc({ provider, result: 'unknown' }, unknown)
  }
}

/** Gives the events that match a sent email, and whether each was new. */
async function recordBatch(tx: Db, provider: string, batch: readonly ProviderEvent[], now: Instant) {
  const matched = await matchEvents(tx, batch)
  const unsubscribes = matched.filter(({ event }) => event.type === 'unsubscribed')
  for (const unsubscribe of unsubscribes) await recordUnsubscribe(tx, provider, unsubscribe, now)
  const others = matched.filter(({ event }) => event.type !== 'unsubscribed')
  const reports = others.map(other => reportOf(provider, other))
  const areNew = await recordReports(tx, reports, now)
  return [
    ...unsubscribes.map(unsubscribe => ({ ...unsubscribe, isNew: true })),
    ...others.map((other, i) => ({ ...other, isNew: areNew[i] === true })),
  ]
}

/** A provider's event of a sent email and one of its recipients. */
interface MatchedEvent {
  readonly event: ProviderEvent
  readonly emailId: Id<'eml'>
  /** As the email has it, whatever the case in the event. */
  readonly recipient: string
}

async function matchEvents(tx: Db, batch: readonly ProviderEvent[]): Promise<readonly MatchedEvent[]> {
  const ids = batch.map(event => event.emailId).filter(id => isId('eml', id))
  if (ids.length === 0) return []
  const recipients = await selectRecipients(tx, [...new Set(ids)])
  const byAddress = new Map(recipients.map(row => [`${row.email_id} ${row.email.toLowerCase()}`, row]))
  return batch.flatMap(event => {
    const row = byAddress.get(`${event.emailId} ${event.recipient.toLowerCase()}`)
    return row ? { event, emailId: row.email_id, recipient: row.email } : []
  })
}

function reportOf(provider: string, { event, emailId, recipient }: MatchedEvent): DeliveryReport {
  const { type, occurredAt, smtpCode, enhancedCode, detail, providerMessageId, wireMessageId } = event
  return {
    event: {
      emailId,
      recipient,
      type: type === 'unsubscribed' ? 'delivered' : type,
      occurredAt,
      source: 'provider_webhook',
      smtpCode,
      enhancedCode,
      detail,
      extra: { provider },
      repeatKey: repeatKey(provider, event),
      providerMessageId,
      wireMessageId,
    },
    bounce: type === 'bounced' ? bounceOf(event) : null,
  }
}

/**
 * What a bounce means: by the reply of the recipient's server, otherwise by what the provider says. Either may exonerate the
 * recipient: only a bounce that both find permanent suppresses.
 */
function bounceOf({ enhancedCode, smtpCode, detail, bounce }: ProviderEvent): BounceClass {
  const byReply = classifyBounce({ enhancedCode, smtpCode, text: detail })
  const { type, scope } = bounce ?? { type: null, scope: null }
  if (scope === 'infrastructure') return { type: type ?? byReply.type, scope, suppress: 'never' }
  if (byReply.type === 'undetermined' && type === 'permanent' && scope === 'recipient')
    return { type, scope, suppress: 'at once' }
  if (type === null || type === 'permanent') return byReply
  return { type, scope: byReply.scope, suppress: 'never' }
}

function repeatKey(provider: string, { key }: ProviderEvent): Buffer {
  return createHash('sha256').update(`${provider} ${key}`).digest()
}

/** Once each: a repeated event does not suppress an address again that was taken off the list since. */
async function recordUnsubscribe(tx: Db, provider: string, { event, emailId, recipient }: MatchedEvent, now: Instant) {
  const [email] = await selectReportedEmails(tx, [emailId])
  if (!email) return
  const token = repeatKey(provider, event)
  if ((await insertToken(tx, { token_hash: token, content_hash: token, created_at: now })) !== 'new') return
  const { organizationId, brandId } = email
  const evidence = `${provider}: ${event.detail ?? 'unsubscribed'}`
  const address = { organizationId, brandId, email: recipient.toLowerCase() }
  await suppress(tx, { ...address, reason: 'unsubscribe', sourceEmailId: emailId, evidence }, now)
}

/** Accepts a token that may be used with one content only. False: it was used before with another content. */
export async function claimSingleUseToken(
  { db, clock }: ProviderEventsDeps,
  provider: string,
  token: string,
  content: Buffer,
) {
  const row = {
    token_hash: createHash('sha256').update(`${provider} token ${token}`).digest(),
    content_hash: createHash('sha256').update(content).digest(),
    created_at: clock.now(),
  }
  return (await insertToken(db, row)) !== 'other'
}

/** Deletes at most `limit` tokens so old that their signatures are refused anyway; gives how many. */
export function deleteOldTokens(
  { db, clock }: Pick<ProviderEventsDeps, 'db' | 'clock'>,
  limit: number,
): Promise<number> {
  return deleteTokens(db, plusMs(clock.now(), -2 * maxSignatureAgeMs), limit)
}
