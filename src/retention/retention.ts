import { minuteMs, plusMs } from '../base/clock.ts'
import type { JobRound } from '../base/concurrency/background-job.ts'
import { claimLease, deleteLease } from '../base/database/leases-table.ts'
import { newSortableToken } from '../base/ids.ts'
import type { RetentionSettings } from './policies/kinds.ts'
import { loadRetentionPolicies, type RetentionPolicies } from './policies/policies.ts'
import { folderTarget } from './targets/folders.ts'
import { updateMissingFolderSince } from './targets/messages-table.ts'
import { rawMessagesTarget, receivedAttachmentsTarget } from './targets/received-messages.ts'
import { requestLogTarget } from './targets/request-log.ts'
import { type RetentionTask, retryDeferred, type ScanStep, scanNext } from './targets/scan.ts'
import { eventsTarget, sentAttachmentsTarget, sentBodiesTarget } from './targets/sent-emails.ts'
import type { RetentionTarget, RetentionTargetDeps } from './targets/target.ts'
import { blobCleanupTasks } from './unreferenced/blob-cleanup.ts'

/** All that is kept for a time. */
export const retentionTargets: readonly RetentionTarget[] = [
  folderTarget('spam'),
  folderTarget('trash'),
  folderTarget('quarantine'),
  rawMessagesTarget,
  receivedAttachmentsTarget,
  sentBodiesTarget,
  sentAttachmentsTarget,
  eventsTarget,
  requestLogTarget,
]

export interface RetentionDeps extends RetentionTargetDeps {
  readonly settings: RetentionSettings
}

/** How a round goes on. */
export interface RoundControl {
  /** Lets others have the database, after a step that took so long. */
  pause(tookMs: number): Promise<void>
  isStopping(): boolean
  /** Told of each step that did something. */
  onStep?(name: string, step: ScanStep): void
}

export interface Retention {
  /** A small step of each kind of work that there is. `busy`: another process is at it. */
  runRound(pace: RoundControl): Promise<'more' | 'done' | 'busy'>
}

const leaseName = 'retention'
const leaseMs = 10 * minuteMs

/** Removes what has had its time, and blobs that nothing refers to. Every step may be taken again, or by another process. */
export function openRetention(deps: RetentionDeps): Retention {
  const holder = newSortableToken()
  const blobWork = blobCleanupTasks(deps)
  const hold = () => {
    const now = deps.clock.now()
    return claimLease(deps.db, { name: leaseName, holder, now, until: plusMs(now, leaseMs) })
  }
  return {
    async runRound(pace) {
      if (!(await hold())) return 'busy'
      let isMore = false
      try {
        const policies = await loadRetentionPolicies(deps.db, deps.settings)
        for (const { name, run } of [...targetTasks(deps, policies), ...blobWork]) {
          if (pace.isStopping() || !(await hold())) break
          const started = performance.now()
          const step = await run()
          isMore ||= step.isMore
          if (step.items > 0) pace.onStep?.(name, step)
          await pace.pause(performance.now() - started)
        }
      } finally {
        await deleteLease(deps.db, leaseName, holder)
      }
      return isMore ? 'more' : 'done'
    },
  }
}

const rowsPerUpdate = 500

function targetTasks(deps: RetentionDeps, policies: RetentionPolicies): readonly RetentionTask[] {
  const adopt = async (): Promise<ScanStep> => {
    const adopted = await updateMissingFolderSince(deps.db, deps.clock.now(), rowsPerUpdate)
    return { items: 0, bytes: 0, isMore: adopted === rowsPerUpdate }
  }
  return [
    { name: 'adopt', run: adopt },
    ...retentionTargets.flatMap((shelf): readonly RetentionTask[] => [
      ...policies.periodsOf(shelf.kind).map(days => ({
        name: shelf.kind,
        run: () => scanNext(deps, shelf, days, policies),
      })),
      { name: shelf.kind, run: () => retryDeferred(deps, shelf, policies) },
    ]),
  ]
}

/** At most one part in five of the time is spent on it. */
const pauseFactor = 4
const maxPauseMs = 5000

/** Prepares the job `retention`. */
export function openRetentionRound(deps: RetentionDeps): JobRound {
  const retention = openRetention(deps)
  return async signal => {
    const done = await retention.runRound({
      pause: tookMs => pauseUnlessStopping(signal, Math.min(pauseFactor * tookMs, maxPauseMs)),
      isStopping: () => signal.aborted,
    })
    return done === 'more' ? 'more' : 'done'
  }
}

function pauseUnlessStopping(signal: AbortSignal, ms: number): Promise<void> {
  return signal.aborted ? Promise.resolve() : Bun.sleep(ms)
}
