import { deleteClosedInvitations } from '../accounts/invitations/invitations.ts'
import { deleteExpiredSignIns } from '../accounts/sessions/cleanup.ts'
import { deleteExpiredResponses } from '../api/idempotency/store.ts'
import { type Clock, hourMs, minuteMs } from '../base/clock.ts'
import { type JobRound, startJob } from '../base/concurrency/background-job.ts'
import type { Db } from '../base/database/database.ts'
import { newIdleMemoryRound } from '../base/idle-memory.ts'
import { failureLog } from '../base/observability/failure-log.ts'
import type { DomainDeps } from '../domains/deps.ts'
import { recheckRound } from '../domains/recheck/recheck.ts'
import { watchPollMs } from '../events/sequence-watch.ts'
import { sequencerPollMs } from '../events/sequencer.ts'
import { openWebhookMetrics } from '../events/webhooks/dispatch/dispatch-metrics.ts'
import { dispatchPollMs } from '../events/webhooks/dispatch/dispatcher.ts'
import { heartbeatIntervalMs, openHeartbeat } from '../health/processes/processes.ts'
import { updateReadinessMetrics } from '../health/readiness/metrics.ts'
import type { Readiness } from '../health/readiness/readiness.ts'
import { indexRound } from '../inbox/search/indexer.ts'
import { openSegmentRounds } from '../inbox/search/segment-round.ts'
import { teachRound } from '../inbox/spam-lessons/teach.ts'
import type { TextWorker } from '../inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { acmeIntervalMs } from '../ports/certificates/acme/acme.ts'
import { certificateFilesIntervalMs } from '../ports/certificates/files.ts'
import { sqsEventQueue } from '../ports/provider/ses/sqs-queue.ts'
import { deliverReportsRound } from '../ports/provider/simulator/deliver-reports.ts'
import { simulatedMail } from '../receiving/reports/simulated-mail.ts'
import { rescanRound } from '../receiving/rescan/rescan.ts'
import { openRetentionRound } from '../retention/retention.ts'
import { measureStorage } from '../retention/storage/storage-metrics.ts'
import type { SendDeps } from '../sending/accept/open-sending.ts'
import { recordUnconfirmed } from '../sending/emails/unconfirmed-events.ts'
import { openQueueMetrics } from '../sending/queue/queue-metrics.ts'
import { relayPollMs } from '../sending/relay/relay.ts'
import { pauseBrandsOverLimits } from '../sending/reports/pause.ts'
import { deleteOldTokens, recordProviderEvents } from '../sending/reports/provider-events.ts'
import { expireSuppressions } from '../sending/suppressions/suppressions.ts'
import { livePollMs } from '../servers/http/live/live.ts'
import type { AppContext } from './app-context.ts'
import { updateBackupMetrics } from './backup-metrics.ts'
import { openDoctor } from './doctor.ts'
import { sendDueNotices } from './webhook-notice.ts'

/** A job of a process, with what it depends on. */
export type Job<Deps> = {
  /** Unique; `job` in the log line of a round that failed. */
  readonly name: string
  /** The pause after a round that left nothing to do, in milliseconds. */
  readonly intervalMs: number
  /** What it does, continuing "This job …". */
  readonly does: string
  /** Does each of several processes that share their ports need it for itself? One for the instance runs in the first alone. */
  readonly isForEachProcess?: true
} & (
  | {
      /** Prepares the rounds that {@link startJobs} runs; null: the configuration does not need the job. */
      readonly open: (deps: Deps) => JobRound | null
    }
  /** The function that starts it, together with the resource that it belongs to. */
  | { readonly startedBy: string }
)

/** What the jobs of the role `http` use of that role's own. */
export interface HttpJobDeps extends AppContext {
  readonly domains: DomainDeps
  readonly texts: TextWorker
  readonly readiness: Readiness
}

/** What the jobs of the role `webhooks` use of that role's own. */
export interface WebhookJobDeps extends AppContext {
  readonly sending: SendDeps
}

const secondMs = 1000

const everyProcess: readonly Job<AppContext>[] = [
  {
    name: 'disk-space',
    intervalMs: secondMs,
    does: 'checks the free disk space, below which mail is refused',
    isForEachProcess: true,
    open: ({ diskSpace }) => diskSpace.check,
  },
  {
    name: 'idle-memory',
    intervalMs: secondMs,
    does: 'gives memory back to the system when the process has had little to do for a minute',
    isForEachProcess: true,
    open: () => newIdleMemoryRound(),
  },
  {
    name: 'doctor',
    intervalMs: hourMs,
    does: 'runs the quick checks of doctor and logs what they find',
    isForEachProcess: true,
    open: openDoctor,
  },
  {
    name: 'heartbeat',
    intervalMs: heartbeatIntervalMs,
    does: 'records that this process runs, its roles and its version, for operators',
    isForEachProcess: true,
    open: openProcessHeartbeat,
  },
  {
    name: 'backup-metrics',
    intervalMs: 30 * secondMs,
    does: 'shows in metrics when the last backup was made and verified',
    open: ({ db }) => once(() => updateBackupMetrics(db)),
  },
  {
    name: 'certificate-files',
    intervalMs: certificateFilesIntervalMs,
    does: 'reloads the certificate in MAILROOM_TLS_CERT and MAILROOM_TLS_KEY when it changes',
    startedBy: 'fileCertificates',
  },
  {
    name: 'event-sequence',
    intervalMs: sequencerPollMs,
    does: 'numbers the events that were committed, so that readers see them',
    startedBy: 'startSequencer',
  },
  {
    name: 'event-watch',
    intervalMs: watchPollMs,
    does: 'tells those who wait for events that there are new ones',
    startedBy: 'watchSequence',
  },
]

const smtpOrHttp: readonly Job<AppContext>[] = [
  {
    name: 'acme-load',
    intervalMs: acmeIntervalMs,
    does: 'loads the certificates that were issued by ACME',
    startedBy: 'acmeCertificates',
  },
  {
    name: 'acme-order',
    intervalMs: acmeIntervalMs,
    does: 'orders and renews certificates by ACME',
    startedBy: 'acmeCertificates',
  },
]

const smtp: readonly Job<AppContext>[] = [
  {
    name: 'rescan',
    intervalMs: 5 * secondMs,
    does: 'scans messages that could not be scanned when they came',
    open: openRescan,
  },
]

const http: readonly Job<HttpJobDeps>[] = [
  {
    name: 'search-index',
    intervalMs: secondMs / 2,
    does: 'indexes long messages for search, and again those that an earlier version indexed wrongly',
    open: openIndexing,
  },
  {
    name: 'search-segments',
    intervalMs: secondMs,
    does: 'builds segments of the search index of new messages',
    open: ({ db, texts }) => openSegmentRounds({ db, texts }),
  },
  {
    name: 'spam-lessons',
    intervalMs: 2 * secondMs,
    does: 'teaches the spam filter what messages moved to and from spam say, where it is set up to learn',
    open: openSpamLessons,
  },
  {
    name: 'domain-recheck',
    intervalMs: 5 * secondMs,
    does: 'checks the DNS records of domains again, and rotates their DKIM keys',
    open: openRecheck,
  },
  {
    name: 'retention',
    intervalMs: minuteMs,
    does: 'deletes what has passed its retention time, and bytes that nothing refers to',
    open: ({ config, db, clock, log }) =>
      openRetentionRound({ db, clock, log, blobs: mysqlBlobs(db, clock), settings: config }),
  },
  {
    name: 'idempotency-cleanup',
    intervalMs: minuteMs,
    does: 'deletes expired idempotency keys with their responses',
    open: cleanup(({ db, clock }, most) => deleteExpiredResponses(db, clock, most)),
  },
  {
    name: 'suppression-cleanup',
    intervalMs: minuteMs,
    does: 'deletes expired suppressions',
    open: cleanup(expireSuppressions),
  },
  {
    name: 'invitation-cleanup',
    intervalMs: minuteMs,
    does: 'deletes invitations that were closed long ago',
    open: cleanup(deleteClosedInvitations),
  },
  {
    name: 'sign-in-cleanup',
    intervalMs: minuteMs,
    does: 'deletes expired sessions, login links and challenges, and failed sign-ins that no longer make anybody wait',
    open: cleanup(deleteExpiredSignIns),
  },
  {
    name: 'webhook-token-cleanup',
    intervalMs: minuteMs,
    does: 'deletes old tokens of provider webhooks, which are kept against replays',
    open: cleanup(deleteOldTokens),
  },
  {
    name: 'storage-metrics',
    intervalMs: 5 * minuteMs,
    does: 'shows in metrics how much is stored, and samples it for the forecast of full disks',
    open: deps => once(() => measureStorage(deps)),
  },
  {
    name: 'readiness-metrics',
    intervalMs: 30 * secondMs,
    does: 'shows in metrics what /ready answers',
    open: ({ readiness }) => once(() => updateReadinessMetrics(readiness)),
  },
  {
    name: 'live-updates',
    intervalMs: livePollMs,
    does: 'tells open pages of the dashboard that something changed',
    startedBy: 'openLive',
  },
]

const relay: readonly Job<AppContext>[] = [
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

const webhooks: readonly Job<WebhookJobDeps>[] = [
  {
    name: 'webhooks',
    intervalMs: dispatchPollMs,
    does: 'delivers events to the webhooks of organizations',
    startedBy: 'startWebhooksRole',
  },
  {
    name: 'webhook-notices',
    intervalMs: 2 * secondMs,
    does: 'emails the owners of organizations whose webhooks were disabled',
    open: deps => signal => sendDueNotices(deps, signal),
  },
  {
    name: 'webhook-metrics',
    intervalMs: 10 * secondMs,
    does: 'shows in metrics how many webhooks fail or are disabled, and how far they are behind',
    open: openWebhookMetrics,
  },
]

/** All background jobs, by the processes that run them: those with a role, with either of two, or all. */
export const jobs = { everyProcess, smtpOrHttp, smtp, http, relay, webhooks }

/** Starts those of the jobs that the configuration needs. When the process stops, their rounds in progress are finished. */
export function startJobs<Deps extends AppContext>(toStart: readonly Job<Deps>[], deps: Deps): void {
  const running = toStart.flatMap(job => {
    const isOurs = deps.share.runsJobs || job.isForEachProcess === true
    const round = isOurs && 'open' in job ? job.open(deps) : null
    return round === null ? [] : [startJob({ name: job.name, intervalMs: job.intervalMs, log: deps.log }, round)]
  })
  deps.onDrain(() => Promise.all(running.map(job => job.stop())))
}

/** A round that never leaves anything to do. */
function once(work: () => Promise<unknown>): JobRound {
  return async () => {
    await work()
    return 'done'
  }
}

const rowsPerCleanup = 1000

/** A job that deletes rows in batches: `deleteRows` deletes at most so many, and gives how many there were. */
function cleanup(deleteRows: (deps: { readonly db: Db; readonly clock: Clock }, most: number) => Promise<number>) {
  return (deps: AppContext): JobRound =>
    async () =>
      (await deleteRows(deps, rowsPerCleanup)) === rowsPerCleanup ? 'more' : 'done'
}

function openProcessHeartbeat({ config, db, clock, relayStatus, onStop }: AppContext): JobRound {
  const findOpenBreaker = () => relayStatus.findOpenBreaker()
  const heartbeat = openHeartbeat({ db, clock, roles: config.roles, findOpenBreaker })
  onStop(() => heartbeat.end())
  return heartbeat.beat
}

function openRescan({ db, clock, log, scanner, resolver, bounces }: AppContext): JobRound {
  const deps = { db, blobs: mysqlBlobs(db, clock), scanner, resolver, hostname: bounces.hostname, clock, log }
  return signal => rescanRound(deps, signal)
}

function openIndexing({ db, clock, log, texts }: HttpJobDeps): JobRound {
  const deps = { db, blobs: mysqlBlobs(db, clock), texts, log }
  return () => indexRound(deps)
}

function openSpamLessons({ db, clock, log, spamFilter }: HttpJobDeps): JobRound | null {
  const learn = spamFilter?.learn
  if (!learn) return null
  const failures = failureLog(
    log,
    {},
    { failed: 'the spam filter does not learn; it will be tried again', recovered: 'the spam filter learns again' },
  )
  return signal => teachRound({ db, blobs: mysqlBlobs(db, clock), clock, learn, failures }, signal)
}

function openRecheck({ config, db, log, domains }: HttpJobDeps): JobRound {
  const longestWaitMs = config.domainRecheckMinutes * minuteMs
  const deps = { ...domains, db, log, longestWaitMs, rotateDays: config.dkimRotateDays }
  return signal => recheckRound(deps, signal)
}

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
