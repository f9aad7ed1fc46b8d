import { startJob } from '../base/concurrency/background-job.ts'
import type { Config } from '../base/config/config.ts'
import { signingKeyFinder } from '../domains/dkim/keys.ts'
import { selectVerifiedReturnPaths } from '../domains/return-path-table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { sqsEventQueue } from '../ports/provider/ses/sqs-queue.ts'
import { type ReportDeliveryDeps, startReportDelivery } from '../ports/provider/simulator/deliver-reports.ts'
import { simulatedMail } from '../receiving/reports/simulated-mail.ts'
import { startQueueMetrics } from '../sending/queue/queue-metrics.ts'
import { startRelay } from '../sending/relay/relay.ts'
import { type PauseLimits, startPauseJob } from '../sending/reports/pause.ts'
import { recordProviderEvents } from '../sending/reports/provider-events.ts'
import type { AppContext } from './app-context.ts'

/** After nothing came, or nothing could be taken; SQS itself waits for news. */
const queuePauseMs = 1000

/** Starts what hands outgoing mail to the provider, and what reads the provider's queue of news. Gives how to wake it. */
export function startRelayRole(shared: AppContext): () => void {
  const { config, log, clock, secrets, provider, bounces, onStop } = shared
  const db = shared.openPool('relay')
  const relay = startRelay({
    db,
    blobs: mysqlBlobs(db, clock),
    provider,
    signingKeys: signingKeyFinder(secrets),
    reversePaths: {
      returnPaths: bounces.returnPaths,
      findHosts: selectVerifiedReturnPaths,
      ownHost: canonicalDomain(config.hostname),
    },
    clock,
    log,
    attemptMs: config.relayAttemptSeconds * 1000,
    retryFirstMs: config.retryFirstSeconds * 1000,
  })
  onStop(() => relay.stop())
  const pausing = startPauseJob({ db: shared.db, clock, log, limits: pauseLimits(config) })
  onStop(() => pausing.stop())
  const counting = startQueueMetrics(shared)
  onStop(() => counting.stop())
  startSimulator(shared)
  if (config.sesQueueUrl) startSesQueue(shared, config.sesQueueUrl)
  return () => relay.wake()
}

/** Starts what tells of simulated recipients, also what a process before this one did not come to tell. */
function startSimulator({ db, clock, log, scanner, bounces, onStop }: AppContext): void {
  const mail = simulatedMail({ db, blobs: mysqlBlobs(db, clock), scanner, clock, log, bounces })
  const takeNews: ReportDeliveryDeps['recordEvents'] = news =>
    recordProviderEvents({ db, clock, log }, 'simulator', news)
  const telling = startReportDelivery({ db, clock, log, ...mail, recordEvents: takeNews })
  onStop(() => telling.stop())
}

function pauseLimits(config: Config): PauseLimits {
  return {
    bouncePercent: config.pauseBounceRate,
    complaintPercent: config.pauseComplaintRate,
    minSent: config.pauseLeastEmails,
    windowMs: config.pauseWindowHours * 3_600_000,
  }
}

function startSesQueue({ config, db, clock, log, onStop }: AppContext, queueUrl: string): void {
  const queue = sqsEventQueue({ queueUrl, region: config.sesRegion ?? '', clock, log })
  onStop(() => queue.close())
  const failure = 'could not read the queue of a provider’s news'
  const reading = startJob({ pauseMs: queuePauseMs, log, failureMessage: failure }, signal =>
    queue.receive(news => recordProviderEvents({ db, clock, log }, 'ses', news), signal),
  )
  onStop(() => reading.stop())
}
