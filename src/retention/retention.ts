import { minuteMs, plusMs } from '../base/clock.ts'
import type { JobRound } from '../base/concurrency/background-job.ts'
import { claimLease, deleteLease } from '../base/database/leases-table.ts'
import { newSortableToken } from '../base/ids.ts'
import type { RetentionSettings } from './policies/kinds.ts'
import { loadRetentionPolicies, type RetentionPolicies } from './policies/policies.ts'
import { eventFeedTarget } from './targets/event-feed.ts'
import { folderTarget } from './targets/folders.ts'
import { updateMissingFolderSince } from './targets/messages-table.ts'
import { rawMessagesTarget, receivedAttachmentsTarget } from './targets/received-messages.ts'
import { requestLogTarget } from './targets/request-log.ts'
import { type RetentionTask, retryDeferred, type ScanStep, scanNext } from './targets/scan.ts'
import { eventsTarget, sentAttachmentsTarget, sentBodiesTarget } from './targets/sent-emails.ts'
import type { RetentionTarget, RetentionTargetDeps } from './targets/target.ts'
import { webhookDeliveriesTarget } from './targets/webhook-deliveries.ts'
import { blobCleanupTasks } from './unreferenced/blob-cleanup.ts'

/** Everything that has a retention time. */
export const retentionTargets: readonly RetentionTarget[] = [
  folderTarget('spam'),
  folderTarget('trash'),
  folderTarget('quarantine'),
  rawMessagesTarget,
  receivedAttachmentsTarget,
  sentBodiesTarget,
  sentAttachmentsTarget,
  eventsTarget,
  eventFeedTarget,
  requestLogTarget,
  webhookDeliveriesTarget,
]

export interface RetentionDeps extends RetentionTargetDeps {
  readonly settings: RetentionSettings
}

/** Controls a round while it runs. */
export interface RoundControl {
  /** Waits between two steps, so that mail has the database; `tookMs` is the duration of the last step. */
  pause(tookMs: number): Promise<void>
  isStopping(): boolean
  /** Called after each step that deleted something. */
  onStep?(name: string, step: ScanStep): void
}

export interface Retention {
  /** Runs one small step of each task. `busy`: another process is running a round. */
  runRound(control: RoundControl): Promise<'more' | 'done' | 'busy'>
}

const leaseName = 'retention'
const leaseMs = 10 * minuteMs

/**
 * Deletes what has passed its retention time, and blobs that nothing refers to, in small steps. A step may be repeated, also by
 * another process; a lease keeps two processes from doing the same work.
 */
export function openRetention(deps: RetentionDeps): Retention {
  const holder = newSortableToken()
  const blobTasks = blobCleanupTasks(deps)
  const claim = () => {
    const now = deps.clock.now()
    return claimLease(deps.db, { name: leaseName, holder, now, until: plusMs(now, leaseMs) })
  }
  return {
    async runRound(control) {
      if (!(await claim())) return 'busy'
      let isMore = false
      try {
        const policies = await loadRetentionPolicies(deps.db, deps.settings)
        for (const { name, run } of [...targetTasks(deps, policies), ...blobTasks]) {
          if (control.isStopping() || !(await claim())) break
          const start = performance.now()
          const step = await run()
          isMore ||= step.isMore
          if (step.items > 0) control.onStep?.(name, step)
          await control.pause(performance.now() - start)
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
  const startMissingTimes = async (): Promise<ScanStep> => {
    const updated = await updateMissingFolderSince(deps.db, deps.clock.now(), rowsPerUpdate)
    return { items: 0, bytes: 0, isMore: updated === rowsPerUpdate }
  }
  return [
    { name: 'folder_since', run: startMissingTimes },
    ...retentionTargets.flatMap((target): readonly RetentionTask[] => [
      ...policies.periodsOf(target.kind).map(days => ({
        name: target.kind,
        run: () => scanNext(deps, target, days, policies),
      })),
      { name: target.kind, run: () => retryDeferred(deps, target, policies) },
    ]),
  ]
}

/** A pause lasts so many times as long as the step before: a fifth of the time is spent on retention. */
const pauseFactor = 4
const maxPauseMs = 5000

/** Prepares the job `retention`. */
export function openRetentionRound(deps: RetentionDeps): JobRound {
  const retention = openRetention(deps)
  return async signal => {
    const result = await retention.runRound({
      pause: tookMs => pauseUnlessStopping(signal, Math.min(pauseFactor * tookMs, maxPauseMs)),
      isStopping: () => signal.aborted,
    })
    return result === 'more' ? 'more' : 'done'
  }
}

function pauseUnlessStopping(signal: AbortSignal, ms: number): Promise<void> {
  return signal.aborted ? Promise.resolve() : Bun.sleep(ms)
}
