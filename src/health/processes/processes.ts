import { hostname } from 'node:os'
import { type Clock, dayMs, type Instant, millisecondsOf, plusMs } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import type { Db } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { version } from '../../base/version.ts'
import { deleteProcess, deleteProcessesSeenBefore, type ProcessRow, upsertProcess } from './table.ts'

/** How often a process says that it runs, in milliseconds. */
export const heartbeatIntervalMs = 10_000
/** A process that was silent for longer is gone, or cannot reach the database. */
const silentMs = 6 * heartbeatIntervalMs
const historyMs = dayMs

/** Since when the circuit breaker of the relay of this process is open, and why; null: it is closed, or there is no relay. */
export interface OpenBreaker {
  readonly openedAt: Instant
  /** The reply or error that opened it. */
  readonly reply: string
}

export interface HeartbeatDeps {
  readonly db: Db
  readonly clock: Clock
  readonly roles: readonly string[]
  /** The state of this process's relay. */
  readonly findOpenBreaker: () => OpenBreaker | null
}

export interface Heartbeat {
  /** Records that this process runs. */
  readonly beat: JobRound
  /** Records that it does not any more. */
  end(): Promise<void>
}

/** Keeps the row of this process in the table of processes. */
export function openHeartbeat({ db, clock, roles, findOpenBreaker }: HeartbeatDeps): Heartbeat {
  const startedAt = clock.now()
  const fixed = {
    id: newSortableToken(),
    host: hostname().slice(0, 255),
    pid: process.pid,
    version: version.slice(0, 64),
    roles: roles.join(','),
    started_at: startedAt,
  }
  return {
    async beat() {
      const now = clock.now()
      const breaker = findOpenBreaker()
      await upsertProcess(db, {
        ...fixed,
        seen_at: now,
        breaker_opened_at: breaker?.openedAt ?? null,
        breaker_reply: breaker?.reply.slice(0, 998) ?? null,
      })
      await deleteProcessesSeenBefore(db, plusMs(now, -historyMs))
      return 'done'
    },
    end: () => deleteProcess(db, fixed.id),
  }
}

/** Does the process still run, as far as is known? */
export function isAlive({ seen_at }: Pick<ProcessRow, 'seen_at'>, now: Instant): boolean {
  return millisecondsOf(now) - millisecondsOf(seen_at) <= silentMs
}
