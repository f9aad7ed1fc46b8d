import { type Clock, plusMs } from '../../../base/clock.ts'
import { type BackgroundJob, startJob } from '../../../base/concurrency/background-job.ts'
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
  /** How often to look for what is due, in milliseconds; 1000 unless given. */
  readonly intervalMs?: number
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

/** Tells what the simulator has to tell, for as long as it runs. Told again after a crash, each counts once. */
export function startReportDelivery(deps: ReportDeliveryDeps): BackgroundJob {
  const { db, clock, log, intervalMs = 1000 } = deps
  return startJob({ pauseMs: intervalMs, log, failureMessage: 'could not tell simulated reports' }, async signal => {
    const due = await selectDueReports(db, clock.now(), maxAtOnce)
    for (const report of due) {
      if (signal.aborted) break
      if (!(await leaseReport(db, report, plusMs(clock.now(), leaseMs)))) continue
      try {
        await tell(report, deps)
        await deleteReport(db, report)
      } catch (error) {
        log.error({ err: error, email_id: report.emailId }, 'could not tell a simulated report')
      }
    }
    return due.length === maxAtOnce ? 'more' : 'done'
  })
}

/** Reports come as they would from outside: as mail to the reverse-path where that is ours, else as news of the provider. */
async function tell({ kind, mail, event }: PendingReport, deps: ReportDeliveryDeps): Promise<void> {
  if (kind === 'absence') await deps.receiveAutoReply(mail)
  else if (!(await deps.receiveReport(mail)) && event) await deps.recordEvents([event])
}
