import { hourMs, minuteMs, secondMs } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { sqsEventQueue } from '../../ports/provider/ses/sqs-queue.ts'
import { deliverReportsRound } from '../../ports/provider/simulator/deliver-reports.ts'
import { simulatedMail } from '../../receiving/reports/simulated-mail.ts'
import { recordUnconfirmed } from '../../sending/emails/unconfirmed-events.ts'
import { openQueueMetrics } from '../../sending/queue/queue-metrics.ts'
import { relayPollMs } from '../../sending/relay/relay.ts'
import { pauseBrandsOverLimits } from '../../sending/reports/pause.ts'
import { recordProviderEvents } from '../../sending/reports/provider-events.ts'
import type { AppContext } from '../app-context.ts'
import type { Job } from './job.ts'

/** The jobs of the role `relay`. */
export const relayJobs: readonly Job<AppContext>[] = [
  {
    name: 'relay',
    intervalMs: relayPollMs,
    does: 'claims due recipients from the outbox and submits their emails to the provider',
    startedBy: 'startRelay',
  },
  {
    name: 'brand-pause',
    intervalMs: 30 * secondMs,
    does: 'pauses brands whose bounces or complaints are above the limits',
    open: openBrandPause,
  },
  {
    name: 'unconfirmed',
    intervalMs: minuteMs,
    does: 'writes an event for each recipient of whom nothing was heard since the provider took the email',
    open: ({ config, db, clock }) => {
      const deps = { db, clock, afterMs: config.unconfirmedHours * hourMs }
      return () => recordUnconfirmed(deps)
    },
  },
  {
    name: 'queue-metrics',
    intervalMs: 10 * secondMs,
    does: 'shows in metrics how much waits to be submitted',
    open: openQueueMetrics,
  },
  {
    name: 'simulator-reports',
    intervalMs: secondMs,
    does: 'delivers the reports of simulated recipients',
    open: openSimulatorReports,
  },
  {
    name: 'ses-queue',
    intervalMs: secondMs,
    does: 'reads provider events from the SQS queue in MAILROOM_SES_QUEUE_URL, where one is set',
    open: openSesQueue,
  },
]

function openBrandPause({ config, db, clock, log }: AppContext): JobRound {
  const limits = {
    bouncePercent: config.pauseBounceRate,
    complaintPercent: config.pauseComplaintRate,
    minSent: config.pauseLeastEmails,
    windowMs: config.pauseWindowHours * hourMs,
  }
  return async signal => {
    await pauseBrandsOverLimits({ db, clock, log, limits }, signal)
    return 'done'
  }
}

/** Also delivers what a process that ended had not delivered yet. */
function openSimulatorReports({ db, clock, log, scanner, bounces }: AppContext): JobRound {
  const mail = simulatedMail({ db, blobs: mysqlBlobs(db, clock), scanner, clock, log, bounces })
  const deps = {
    ...{ db, clock, log, ...mail },
    recordEvents: (events: Parameters<typeof recordProviderEvents>[2]) =>
      recordProviderEvents({ db, clock, log }, 'simulator', events),
  }
  return signal => deliverReportsRound(deps, signal)
}

/** SQS itself waits for events: the interval is the pause after it had none, or could not be read. */
function openSesQueue({ config, db, clock, log, onStop }: AppContext): JobRound | null {
  const { sesQueueUrl: queueUrl, sesRegion: region = '' } = config
  if (queueUrl === undefined) return null
  const queue = sqsEventQueue({ queueUrl, region, clock, log })
  onStop(() => queue.close())
  return signal => queue.receive(events => recordProviderEvents({ db, clock, log }, 'ses', events), signal)
}
