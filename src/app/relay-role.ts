import { startRounds } from '../base/concurrency/background-job.ts'
import type { Config } from '../base/config/config.ts'
import { openSigning } from '../domains/dkim/keys.ts'
import { verifiedReturnPaths } from '../domains/return-path-table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { sesQueue } from '../ports/provider/ses/sqs-queue.ts'
import { startTelling, type Telling } from '../ports/provider/simulator/deliver-reports.ts'
import { simulatedMail } from '../receiving/reports/simulated-mail.ts'
import { startQueueMetrics } from '../sending/queue/queue-metrics.ts'
import { startRelay } from '../sending/relay/relay.ts'
import { type PauseLimits, startPausing } from '../sending/reports/pause.ts'
import { recordNews } from '../sending/reports/provider-events.ts'
import type { Shared } from './shared.ts'

/** After nothing came, or nothing could be taken; SQS itself waits for news. */
const queuePauseMs = 1000

/** Starts what hands outgoing mail to the provider, and what reads the provider's queue of news. Gives how to wake it. */
export function startRelayRole(shared: Shared): () => void {
  const { config, log, clock, secrets, provider, bounces, atEnd } = shared
  const db = shared.openPool('relay')
  const relay = startRelay({
    db,
    blobs: mysqlBlobs(db, clock),
    provider,
    signingKeys: openSigning(secrets),
    reversePaths: {
      returnPaths: bounces.returnPaths,
      findHosts: verifiedReturnPaths,
      ownHost: canonicalDomain(config.hostname),
    },
    clock,
    log,
    attemptMs: config.relayAttemptSeconds * 1000,
    retryFirstMs: config.retryFirstSeconds * 1000,
  })
  atEnd(() => relay.stop())
  const pausing = startPausing({ db: shared.db, clock, log, limits: pauseLimits(config) })
  atEnd(() => pausing.stop())
  const counting = startQueueMetrics(shared)
  atEnd(() => counting.stop())
  startSimulator(shared)
  if (config.sesQueueUrl) startSesQueue(shared, config.sesQueueUrl)
  return () => relay.wake()
}

/** Starts what tells of simulated recipients, also what a process before this one did not come to tell. */
function startSimulator({ db, clock, log, scanner, bounces, atEnd }: Shared): void {
  const mail = simulatedMail({ db, blobs: mysqlBlobs(db, clock), scanner, clock, log, bounces })
  const takeNews: Telling['takeNews'] = news => recordNews({ db, clock, log }, 'simulator', news)
  const telling = startTelling({ db, clock, log, ...mail, takeNews })
  atEnd(() => telling.stop())
}

function pauseLimits(config: Config): PauseLimits {
  return {
    bouncePercent: config.pauseBounceRate,
    complaintPercent: config.pauseComplaintRate,
    leastSent: config.pauseLeastEmails,
    windowMs: config.pauseWindowHours * 3_600_000,
  }
}

function startSesQueue({ config, db, clock, log, atEnd }: Shared, queueUrl: string): void {
  const queue = sesQueue({ queueUrl, region: config.sesRegion ?? '', clock, log })
  atEnd(() => queue.close())
  const failure = 'could not read the queue of a provider’s news'
  const reading = startRounds({ pauseMs: queuePauseMs, log, failure }, signal =>
    queue.bring(news => recordNews({ db, clock, log }, 'ses', news), signal),
  )
  atEnd(() => reading.stop())
}
