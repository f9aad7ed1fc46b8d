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
  /** Receives a report as mail to our reverse-path, like one from outside. False: that is not an address for reports. */
  readonly receiveReport: (mail: ReportMail) => Promise<boolean>
  /** Receives an auto-reply as mail to the envelope sender. */
  readonly receiveAutoReply: (mail: ReportMail) => Promise<unknown>
  /** Records provider events, like those of a webhook. */
  readonly recordEvents: (events: readonly ProviderEvent[]) => Promise<void>
}

/** How long after the submission its reports come, in milliseconds. */
const delayMs = 500
/** How long one may take to deliver before another process tries. */
const leaseMs = 10_000
const maxAtOnce = 20

/** Stores reports to be delivered a moment later, by this process or, if it dies, by another one. */
export function storeReports({ db, clock }: Pick<ReportDeliveryDeps, 'db' | 'clock'>) {
  return async (reports: readonly SimulatedReport[]): Promise<void> => {
    if (reports.length === 0) return
    const dueAt = plusMs(clock.now(), delayMs)
    await insertReports(
      db,
      reports.map(report => ({ ...report, dueAt })),
    )
  }
}

/** One round of the job `simulator-reports`: delivers the reports that are due. One that is delivered again after a crash counts once. */
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

/** As they would come from outside: as mail to the reverse-path if that is ours, else as provider events. */
async function deliver({ kind, mail, event }: PendingReport, deps: ReportDeliveryDeps): Promise<void> {
  if (kind === 'absence') await deps.receiveAutoReply(mail)
  else if (!(await deps.receiveReport(mail)) && event) await deps.recordEvents([event])
}
