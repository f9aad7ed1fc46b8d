import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { insertRows } from '../../../base/database/insert-rows.ts'
import { fromJson, toJson } from '../../../base/database/schema.ts'
import type { Id } from '../../../base/ids.ts'
import type { ProviderEvent } from '../webhooks/webhook.ts'
import type { ReportMail } from './report-messages.ts'

/** What the simulator will tell of one recipient of an email. */
export interface SimulatedReport {
  readonly emailId: Id<'eml'>
  readonly recipient: string
  readonly kind: 'status' | 'complaint' | 'absence'
  readonly mail: ReportMail
  /** The same as news of the provider; null: it is nothing that a provider tells. */
  readonly event: ProviderEvent | null
}

/** One that waits; `dueAt` is at the same time the lease of whoever tells it. */
export interface PendingReport extends SimulatedReport {
  readonly dueAt: Instant
}

/** Keeps reports until they are told; one that waits already stays as it is. */
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
  await insertRows(db, 'simulated_reports', rows, 'unless there')
}

/** Reports that are due, the longest due first. */
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

/** Takes a report for oneself until then. False: someone else has taken it. */
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

/** Forgets a report that was told. */
export async function deleteReport(db: Db, { emailId, recipient, kind }: SimulatedReport): Promise<void> {
  await db
    .deleteFrom('simulated_reports')
    .where('email_id', '=', emailId)
    .where('recipient', '=', recipient)
    .where('kind', '=', kind)
    .execute()
}
