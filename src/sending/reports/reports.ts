import { dayMs, type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import type { DeliveryEvent } from '../events/delivery-event.ts'
import { recordEvents } from '../events/events.ts'
import { suppress } from '../suppressions/suppress.ts'
import { type BounceClass, classifyBounce } from './classify-bounce.ts'
import { type EarlierBounce, type ReportedEmail, selectEarlierBounces, selectReportedEmails } from './table.ts'

/** What a DSN, a complaint or a provider reports of an email and one of its recipients. */
export interface DeliveryReport {
  /** Without `bounce`, which follows from {@link DeliveryReport.bounce}. */
  readonly event: Omit<DeliveryEvent, 'bounce' | 'recipient'> & { readonly recipient: string }
  /** What a bounce means; null: it is none. */
  readonly bounce: BounceClass | null
}

/** Bounces that suppress only when repeated must be this far apart, in milliseconds. */
const minApartMs = dayMs

/**
 * Records reports, and suppresses the recipients that complained or do not exist, with the report as evidence. Runs in the
 * caller's transaction. One result for each: false when it was recorded before, or its email does not exist.
 */
export async function recordReports(
  tx: Db,
  incoming: readonly DeliveryReport[],
  now: Instant,
): Promise<readonly boolean[]> {
  const found = await selectReportedEmails(tx, [
    ...new Set(incoming.map(deliveryReport => deliveryReport.event.emailId)),
  ])
  const emails = new Map(found.map(email => [email.id, email]))
  const reports = incoming.map(deliveryReport => withPlausibleTime(deliveryReport, emails, now))
  const suppresses = await Promise.all(reports.map(report => mustSuppress(tx, report, emails)))
  const isNew = await recordEvents(
    tx,
    reports.map((report, i) => eventOf(report, suppresses[i] ?? false)),
    now,
  )
  for (const [i, { event }] of reports.entries()) {
    const email = emails.get(event.emailId)
    if (!email || !isNew[i] || !suppresses[i]) continue
    await suppress(
      tx,
      {
        organizationId: email.organizationId,
        brandId: email.brandId,
        email: event.recipient.toLowerCase(),
        reason: event.type === 'complained' ? 'complaint' : 'hard_bounce',
        sourceEmailId: email.id,
        evidence: evidenceOf(event),
      },
      now,
    )
  }
  return isNew
}

/** The dates of mail leave out the fraction of a second. RFC 5322 §3.3. */
const dateStepMs = 1000

function withPlausibleTime(
  report: DeliveryReport,
  emails: ReadonlyMap<Id<'eml'>, ReportedEmail>,
  now: Instant,
): DeliveryReport {
  const { event, bounce } = report
  // By our own clock.
  if (event.source === 'api') return report
  const { acceptedAt = now, sentAt = null } = emails.get(event.emailId) ?? {}
  return { event: { ...event, occurredAt: plausibleTime(event.occurredAt, { acceptedAt, sentAt, now }) }, bounce }
}

/**
 * A report from before the email was accepted, or from the future, comes from a wrong clock: it counts as of now. One from the
 * second in which the email was accepted, or in which the provider took it, comes after that.
 */
function plausibleTime(
  reported: Instant,
  { acceptedAt, sentAt, now }: Pick<ReportedEmail, 'acceptedAt' | 'sentAt'> & { readonly now: Instant },
): Instant {
  const end = plusMs(reported, dateStepMs)
  if (reported > now || end <= acceptedAt) return now
  if (sentAt !== null && sentAt > reported && sentAt < end) return sentAt
  return acceptedAt > reported ? acceptedAt : reported
}

function eventOf({ event, bounce }: DeliveryReport, suppressed: boolean): DeliveryEvent {
  return { ...event, bounce: bounce && { type: bounce.type, scope: bounce.scope, suppressed } }
}

async function mustSuppress(
  tx: Db,
  { event, bounce }: DeliveryReport,
  emails: ReadonlyMap<Id<'eml'>, ReportedEmail>,
): Promise<boolean> {
  const email = emails.get(event.emailId)
  if (!email) return false
  if (event.type === 'complained') return true
  switch (bounce?.suppress) {
    case 'at once':
      return true
    case 'when repeated': {
      const earlier = await selectEarlierBounces(tx, email, event.recipient, plusMs(event.occurredAt, -minApartMs))
      return earlier.some(isClosed)
    }
    default:
      return false
  }
}

/** Was that bounce, as it was recorded, one that suppresses when repeated? */
function isClosed(row: EarlierBounce): boolean {
  const recorded = row.bounce === null ? null : fromJson(row.bounce)
  if (recorded?.type === 'transient' || recorded?.scope === 'infrastructure') return false
  const { suppress } = classifyBounce({
    enhancedCode: row.enhanced_code,
    smtpCode: row.smtp_code,
    text: row.detail,
  })
  return suppress !== 'never'
}

/** The reply, or what the report says, on one line. */
function evidenceOf({ smtpCode, enhancedCode, detail, type }: DeliveryReport['event']): string {
  const text = detail ?? type
  const codes = [smtpCode, enhancedCode].filter(
    code => code !== null && code !== undefined && !text.includes(`${code}`),
  )
  return [...codes, text].join(' ')
}
