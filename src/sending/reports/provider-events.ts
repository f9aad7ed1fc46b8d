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

/** So many are recorded in one transaction. */
const atOnce = 100

const told = counter(
  'mailroom_provider_news_total',
  'What providers told of emails: recorded, repeated, or of no email of ours.',
  ['provider', 'result'],
)

/**
 * Records what a provider told, once each and in any order, and keeps recipients from further mail where that follows.
 * What names no email of ours with that recipient changes nothing. Done again after a failure half way it goes on there.
 */
export async function recordProviderEvents(
  deps: ProviderEventsDeps,
  provider: string,
  news: readonly ProviderEvent[],
): Promise<void> {
  for (let i = 0; i < news.length; i += atOnce) {
    const some = news.slice(i, i + atOnce)
    const recorded = await inTransaction(deps.db, tx => recordSome(tx, provider, some, deps.clock.now()))
    for (const { news, emailId, isNew } of recorded) {
      told.inc({ provider, result: isNew ? 'recorded' : 'repeated' })
      deps.log.info({ email_id: emailId, provider, type: news.type, is_new: isNew }, 'took a provider’s news')
    }
    if (recorded.length < some.length) told.inc({ provider, result: 'unknown' }, some.length - recorded.length)
  }
}

/** Those that are of emails of ours; was each new? */
async function recordSome(tx: Db, provider: string, some: readonly ProviderEvent[], now: Instant) {
  const ours = await findOurs(tx, some)
  const wishes = ours.filter(our => our.news.type === 'unsubscribed')
  for (const wish of wishes) await recordUnsubscribe(tx, provider, wish, now)
  const others = ours.filter(our => our.news.type !== 'unsubscribed')
  const reports = others.map(matchedEvent => reportOf(provider, matchedEvent))
  const areNew = await recordReports(tx, reports, now)
  return [
    ...wishes.map(wish => ({ ...wish, isNew: true })),
    ...others.map((matchedEvent, i) => ({ ...matchedEvent, isNew: areNew[i] === true })),
  ]
}

/** News of an email of ours and a recipient that it has. */
interface MatchedEvent {
  readonly news: ProviderEvent
  readonly emailId: Id<'eml'>
  /** As the email has it. */
  readonly recipient: string
}

async function findOurs(tx: Db, some: readonly ProviderEvent[]): Promise<readonly MatchedEvent[]> {
  const ids = some.map(providerEvent => providerEvent.emailId).filter(id => isId('eml', id))
  if (ids.length === 0) return []
  const recipients = await selectRecipients(tx, [...new Set(ids)])
  const byAddress = new Map(recipients.map(row => [`${row.email_id} ${row.email.toLowerCase()}`, row]))
  return some.flatMap(news => {
    const row = byAddress.get(`${news.emailId} ${news.recipient.toLowerCase()}`)
    return row ? { news, emailId: row.email_id, recipient: row.email } : []
  })
}

function reportOf(provider: string, { news, emailId, recipient }: MatchedEvent): DeliveryReport {
  const { type, occurredAt, smtpCode, enhancedCode, detail, providerMessageId, wireMessageId } = news
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
      repeatKey: repeatKey(provider, news),
      providerMessageId,
      wireMessageId,
    },
    bounce: type === 'bounced' ? bounceOf(news) : null,
  }
}

/**
 * What a bounce means: as the recipient's server says it, else as the provider does. Each may speak for the recipient: who
 * is suppressed is so by both.
 */
function bounceOf({ enhancedCode, smtpCode, detail, bounce }: ProviderEvent): BounceClass {
  const said = classifyBounce({ enhancedCode, smtpCode, text: detail })
  const { type, scope } = bounce ?? { type: null, scope: null }
  if (scope === 'infrastructure') return { type: type ?? said.type, scope, suppress: 'never' }
  if (said.type === 'undetermined' && type === 'permanent' && scope === 'recipient')
    return { type, scope, suppress: 'at once' }
  if (type === null || type === 'permanent') return said
  return { type, scope: said.scope, suppress: 'never' }
}

function repeatKey(provider: string, { key }: ProviderEvent): Buffer {
  return createHash('sha256').update(`${provider} ${key}`).digest()
}

/** Once each: told again, it does not undo that the address was taken off the list since. */
async function recordUnsubscribe(tx: Db, provider: string, { news, emailId, recipient }: MatchedEvent, now: Instant) {
  const [email] = await selectReportedEmails(tx, [emailId])
  if (!email) return
  const token = repeatKey(provider, news)
  if ((await insertToken(tx, { token_hash: token, content_hash: token, created_at: now })) !== 'new') return
  const { organizationId, brandId } = email
  const evidence = `${provider}: ${news.detail ?? 'unsubscribed'}`
  const wish = { organizationId, brandId, email: recipient.toLowerCase(), sourceEmailId: emailId, evidence }
  await suppress(tx, { ...wish, reason: 'unsubscribe' }, now)
}

/** Takes what a provider may say once only, with one content. False: it came before with another. */
export async function claimSingleUseToken(
  { db, clock }: ProviderEventsDeps,
  provider: string,
  once: string,
  content: Buffer,
) {
  const row = {
    token_hash: createHash('sha256').update(`${provider} token ${once}`).digest(),
    content_hash: createHash('sha256').update(content).digest(),
    created_at: clock.now(),
  }
  return (await insertToken(db, row)) !== 'other'
}

/** Forgets what was said so long ago that it is no longer taken; says how many, at most `most`. */
export function deleteOldTokens(
  { db, clock }: Pick<ProviderEventsDeps, 'db' | 'clock'>,
  most: number,
): Promise<number> {
  return deleteTokens(db, plusMs(clock.now(), -2 * maxSignatureAgeMs), most)
}
