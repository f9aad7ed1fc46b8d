import { plusMs } from '../base/clock.ts'
import { type Rounds, startRounds } from '../base/concurrency/background-job.ts'
import { leaveLease, takeLease } from '../base/database/leases-table.ts'
import { newSortableToken } from '../base/ids.ts'
import type { RetentionSettings } from './policies/kinds.ts'
import { loadPolicies, type Policies } from './policies/policies.ts'
import { folderShelf } from './targets/folders.ts'
import { adoptMessages } from './targets/messages-table.ts'
import { rawMessages, receivedAttachments } from './targets/received.ts'
import { requestLog } from './targets/requests.ts'
import { type Step, stepAlong, stepWaiting } from './targets/scan.ts'
import { events, sentAttachments, sentBodies } from './targets/sent.ts'
import type { Clearing, Shelf } from './targets/target.ts'
import { openBlobWork } from './unreferenced/blob-cleanup.ts'

/** All that is kept for a time. */
export const shelves: readonly Shelf[] = [
  folderShelf('spam'),
  folderShelf('trash'),
  folderShelf('quarantine'),
  rawMessages,
  receivedAttachments,
  sentBodies,
  sentAttachments,
  events,
  requestLog,
]

export interface RetentionUse extends Clearing {
  readonly settings: RetentionSettings
}

/** How a round goes on. */
export interface Pace {
  /** Lets others have the database, after a step that took so long. */
  rest(tookMs: number): Promise<void>
  isStopping(): boolean
  /** Told of each step that did something. */
  onStep?(name: string, step: Step): void
}

export interface Retention {
  /** A small step of each kind of work that there is. `busy`: another process is at it. */
  round(pace: Pace): Promise<'more' | 'done' | 'busy'>
}

const leaseName = 'retention'
const leaseMs = 10 * 60_000

/** Removes what has had its time, and blobs that nothing refers to. Every step may be taken again, or by another process. */
export function openRetention(use: RetentionUse): Retention {
  const holder = newSortableToken()
  const blobWork = openBlobWork(use)
  const hold = () => {
    const now = use.clock.now()
    return takeLease(use.db, { name: leaseName, holder, now, until: plusMs(now, leaseMs) })
  }
  return {
    async round(pace) {
      if (!(await hold())) return 'busy'
      let isMore = false
      try {
        const policies = await loadPolicies(use.db, use.settings)
        for (const { name, run } of [...workOf(use, policies), ...blobWork]) {
          if (pace.isStopping() || !(await hold())) break
          const started = performance.now()
          const step = await run()
          isMore ||= step.isMore
          if (step.items > 0) pace.onStep?.(name, step)
          await pace.rest(performance.now() - started)
        }
      } finally {
        await leaveLease(use.db, leaseName, holder)
      }
      return isMore ? 'more' : 'done'
    },
  }
}

export interface Work {
  readonly name: string
  readonly run: () => Promise<Step>
}

const adoptedAtOnce = 500

function workOf(use: RetentionUse, policies: Policies): readonly Work[] {
  const adopt = async (): Promise<Step> => {
    const adopted = await adoptMessages(use.db, use.clock.now(), adoptedAtOnce)
    return { items: 0, bytes: 0, isMore: adopted === adoptedAtOnce }
  }
  return [
    { name: 'adopt', run: adopt },
    ...shelves.flatMap((shelf): readonly Work[] => [
      ...policies.timesOf(shelf.kind).map(days => ({
        name: shelf.kind,
        run: () => stepAlong(use, shelf, days, policies),
      })),
      { name: shelf.kind, run: () => stepWaiting(use, shelf, policies) },
    ]),
  ]
}

const pauseMs = 60_000
/** Of the time, at most one part in five is spent on it. */
const restFactor = 4
const longestRestMs = 5000

/** Does rounds for as long as it runs; `stop` waits for the step under way. */
export function startRetention(use: RetentionUse): Rounds {
  const retention = openRetention(use)
  const options = { pauseMs, log: use.log, failure: 'what has had its time was not removed' }
  return startRounds(options, async signal => {
    const done = await retention.round({
      rest: tookMs => restUnless(signal, Math.min(restFactor * tookMs, longestRestMs)),
      isStopping: () => signal.aborted,
    })
    return done === 'more' ? 'more' : 'done'
  })
}

function restUnless(signal: AbortSignal, ms: number): Promise<void> {
  return signal.aborted ? Promise.resolve() : Bun.sleep(ms)
}
