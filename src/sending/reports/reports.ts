import { dayMs, type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { DeliveryEvent } from '../events/delivery-event.ts'
import { recordEvents } from '../events/events.ts'
import { suppress } from '../suppressions/suppress.ts'
import { type BounceClass, classifyBounce } from './classify-bounce.ts'
import { type ReportedEmail, selectEarlierBounces, selectReportedEmails } from './table.ts'

/** What someone else tells of an email and one recipient of it. */
export interface DeliveryReport {
  /** Its `bounce` is made of {@link DeliveryReport.bounce}. */
  readonly event: Omit<DeliveryEvent, 'bounce' | 'recipient'> & { readonly recipient: string }
  /** What a bounce means; null: it is none. */
  readonly bounce: BounceClass | null
}

const apartMs = dayMs

/**
 * Records reports, and keeps the recipients from further mail of which a report says that they complained or are not there:
 * once each, with the report as evidence. In the caller's transaction. One answer for each: false when it was recorded
 * before, or its email is not there.
 */
export async function recordReports(
  tx: Db,
  told: readonly DeliveryReport[],
  now: Instant,
): Promise<readonly boolean[]> {
  const found = await selectReportedEmails(tx, [...new Set(told.map(deliveryReport => deliveryReport.event.emailId))])
  const emails = new Map(found.map(email => [email.id, email]))
  const reports = told.map(deliveryReport => atPossibleTime(deliveryReport, emails, now))
  const suppresses = await Promise.all(reports.map(report => isToSuppress(tx, report, emails)))
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

/** What is told of a time before the email was accepted, or of one to come, is told by a clock that is wrong: it counts as of now. */
function atPossibleTime(
  { event, bounce }: DeliveryReport,
  emails: ReadonlyMap<Id<'eml'>, ReportedEmail>,
  now: Instant,
): DeliveryReport {
  const acceptedAt = emails.get(event.emailId)?.acceptedAt ?? now
  const isPossible = event.occurredAt >= acceptedAt && event.occurredAt <= now
  return { event: isPossible ? event : { ...event, occurredAt: now }, bounce }
}

function eventOf({ event, bounce }: DeliveryReport, suppressed: boolean): DeliveryEvent {
  return { ...event, bounce: bounce && { type: bounce.type, scope: bounce.scope, suppressed } }
}

async function isToSuppress(
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
      const earlier = await selectEarlierBounces(tx, email, event.recipient, plusMs(event.occurredAt, -apartMs))
      return earlier.some(isClosed)
    }
    default:
      return false
  }
}

function isClosed(row: { enhanced_code: string | null; smtp_code: number | null; detail: string | null }): boolean {
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
