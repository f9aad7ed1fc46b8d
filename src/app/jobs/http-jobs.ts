import { deleteClosedInvitations } from '../../accounts/invitations/invitations.ts'
import { deleteExpiredSignIns } from '../../accounts/sessions/cleanup.ts'
import { deleteExpiredResponses } from '../../api/idempotency/store.ts'
import { minuteMs, secondMs } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import { failureLog } from '../../base/observability/failure-log.ts'
import type { DomainDeps } from '../../domains/deps.ts'
import { recheckRound } from '../../domains/recheck/recheck.ts'
import { updateReadinessMetrics } from '../../health/readiness/metrics.ts'
import type { Readiness } from '../../health/readiness/readiness.ts'
import { indexRound } from '../../inbox/search/indexer.ts'
import { openSegmentRounds } from '../../inbox/search/segment-round.ts'
import { teachRound } from '../../inbox/spam-lessons/teach.ts'
import type { TextWorker } from '../../inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { openRetentionRound } from '../../retention/retention.ts'
import { measureStorage } from '../../retention/storage/storage-metrics.ts'
import { deleteOldTokens } from '../../sending/reports/provider-events.ts'
import { expireSuppressions } from '../../sending/suppressions/suppressions.ts'
import { livePollMs } from '../../servers/http/live/live.ts'
import type { AppContext } from '../app-context.ts'
import { cleanup, type Job, once } from './job.ts'

/** What the jobs of the role `http` use of that role's own. */
export interface HttpJobDeps extends AppContext {
  readonly domains: DomainDeps
  readonly texts: TextWorker
  readonly readiness: Readiness
}

/** The jobs of the role `http`. */
export const httpJobs: readonly Job<HttpJobDeps>[] = [
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
