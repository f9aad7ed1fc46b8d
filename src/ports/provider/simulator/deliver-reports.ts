import { type Clock, plusMs } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { Log } from '../../../base/observability/log.ts'
import type { ProviderEvent } from '../webhooks/webhook.ts'
import type { ReportMail } from './report-messages.ts'
import {
  deleteReport,
  insertReports,
  leaseReport,
  type PendingReport,
  type SimulatedReport,
  selectDueReports,
} from './table.ts'

export interface ReportDeliveryDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  /** Takes a report as mail to our reverse-path, as if it had come in. False: that is no address for reports. */
  readonly receiveReport: (mail: ReportMail) => Promise<boolean>
  /** Takes an answer that a program gave, as mail to the envelope sender. */
  readonly receiveAutoReply: (mail: ReportMail) => Promise<unknown>
  /** Takes news as if a webhook had brought them. */
  readonly recordEvents: (news: readonly ProviderEvent[]) => Promise<void>
}

/** How long after the submission its reports come, in milliseconds. */
const afterMs = 500
/** How long one may take before another process tells it. */
const leaseMs = 10_000
const maxAtOnce = 20

/** Keeps what is to be told a moment later: what a process that dies has not told, another does. */
export function storeReports({ db, clock }: Pick<ReportDeliveryDeps, 'db' | 'clock'>) {
  return async (reports: readonly SimulatedReport[]): Promise<void> => {
    if (reports.length === 0) return
    const dueAt = plusMs(clock.now(), afterMs)
    await insertReports(
      db,
      reports.map(report => ({ ...report, dueAt })),
    )
  }
}

/** A round of the job `simulator-reports`: delivers the reports that are due. Delivered again after a crash, each counts once. */
export async function deliverReportsRound(deps: ReportDeliveryDeps, signal: AbortSignal): Promise<'more' | 'done'> {
  const { db, clock, log } = deps
  const due = await selectDueReports(db, clock.now(), maxAtOnce)
  for (const report of due) {
    if (signal.aborted) break
    if (!(await leaseReport(db, report, plusMs(clock.now(), leaseMs)))) continue
    try {
      await deliver(report, deps)
      await deleteReport(db, report)
    } catch (error) {
      log.error(
        { err: error, email_id: report.emailId },
        'could not deliver a simulated report; it will be tried again',
      )
    }
  }
  return due.length === maxAtOnce ? 'more' : 'done'
}

/** Reports come as they would from outside: as mail to the reverse-path where that is ours, else as news of the provider. */
async function deliver({ kind, mail, event }: PendingReport, deps: ReportDeliveryDeps): Promise<void> {
  if (kind === 'absence') await deps.receiveAutoReply(mail)
  else if (!(await deps.receiveReport(mail)) && event) await deps.recordEvents([event])
}
