import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { insertRows } from '../../../base/database/insert-rows.ts'
import { fromJson, toJson } from '../../../base/database/schema.ts'
import type { Id } from '../../../base/ids.ts'
import type { ProviderEvent } from '../webhooks/webhook.ts'
import type { ReportMail } from './report-messages.ts'

/** A report that the simulator delivers later, about one recipient of an email. */
export interface SimulatedReport {
  readonly emailId: Id<'eml'>
  readonly recipient: string
  readonly kind: 'status' | 'complaint' | 'absence'
  readonly mail: ReportMail
  /** The same as a provider event; null: providers do not report it. */
  readonly event: ProviderEvent | null
}

/** A report that is to be delivered. While a process delivers it, `dueAt` is the end of that process's lease. */
export interface PendingReport extends SimulatedReport {
  readonly dueAt: Instant
}

/** Inserts reports; one that is there already stays as it is. */
export async function insertReports(db: Db, reports: readonly PendingReport[]): Promise<void> {
  const rows = reports.map(({ emailId, recipient, kind, dueAt, mail, event }) => ({
    email_id: emailId,
    recipient,
    kind,
    due_at: dueAt,
    rcpt_to: mail.rcptTo,
    message: mail.message,
    news: event && toJson({ ...event }),
  }))
  await insertRows(db, 'simulated_reports', rows, 'ignore')
}

/** Reports that are due, in the order of `dueAt`. */
export async function selectDueReports(db: Db, now: Instant, limit: number): Promise<readonly PendingReport[]> {
  const rows = await db
    .selectFrom('simulated_reports')
    .select(['email_id', 'recipient', 'kind', 'due_at', 'rcpt_to', 'message', 'news'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(sql.lit(limit))
    .execute()
  return rows.map(row => ({
    emailId: row.email_id,
    recipient: row.recipient,
    kind: row.kind,
    dueAt: row.due_at,
    mail: { rcptTo: row.rcpt_to, message: row.message },
    event: row.news && (fromJson(row.news) as unknown as ProviderEvent),
  }))
}

/** Leases a report to the caller until `until`. False: another process has it. */
export async function leaseReport(db: Db, report: PendingReport, until: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('simulated_reports')
    .set({ due_at: until })
    .where('email_id', '=', report.emailId)
    .where('recipient', '=', report.recipient)
    .where('kind', '=', report.kind)
    .where('due_at', '=', report.dueAt)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Deletes a report that was delivered. */
export async function deleteReport(db: Db, { emailId, recipient, kind }: SimulatedReport): Promise<void> {
  await db
    .deleteFrom('simulated_reports')
    .where('email_id', '=', emailId)
    .where('recipient', '=', recipient)
    .where('kind', '=', kind)
    .execute()
}
