import { instantAt, microsecondsOf } from '../../base/clock.ts'
import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { insertRequests, type RequestLogRow, selectExistingIds } from './table.ts'

/** Keeps what was asked of the API, apart from the answers: nothing that it does can fail or delay one. */
export interface RequestLog {
  /** Takes a request that was answered. The oldest one that waits is dropped when too many do. */
  record(row: RequestLogRow): void
  /** Resolves once what was noted before is written, but after a second in any case. */
  flush(): Promise<void>
  /** Writes what waits, for at most two seconds. */
  close(): Promise<void>
}

const maxWaiting = 10_000
const maxRows = 128
const writeEveryMs = 250
const againMs = 1000
const writtenMs = 1000
const closeMs = 2000

const droppedTotal = counter(
  'mailroom_request_log_dropped_total',
  'Requests that are missing in the request log, as the database could not take them in time.',
)

/** A log that writes batches into `db`, a few a second. While the database is away it keeps the newest 10,000 requests. */
export function openRequestLog(db: Db, log: Log): RequestLog {
  let waiting: RequestLogRow[] = []
  /** How many were ever taken, and how many of them need no more work. */
  const count = { noted: 0, settled: 0 }
  let timer: Timer | undefined
  let writing: Promise<void> | undefined
  let isInTrouble = false
  let isClosed = false

  function drop(rows: readonly RequestLogRow[]): void {
    droppedTotal.inc(rows.length)
    count.settled += rows.length
  }

  function putBack(batch: readonly RequestLogRow[]): void {
    waiting = [...batch, ...waiting]
    drop(waiting.splice(0, Math.max(0, waiting.length - maxWaiting)))
  }

  async function writeBatch(): Promise<void> {
    const batch = distinct(waiting.splice(0, maxRows))
    try {
      await writeRequests(db, batch)
      count.settled += batch.length
      isInTrouble = false
    } catch (error) {
      if (!isInTrouble) log.error({ err: error }, 'the request log was not written')
      isInTrouble = true
      if (isDatabaseUnavailable(error) && !isClosed) putBack(batch)
      else drop(batch)
    }
  }

  /** Writes whole batches and what is left over now; what comes meanwhile waits for company. */
  async function writeAll(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    do await writeBatch()
    while (waiting.length >= maxRows && !isInTrouble)
  }

  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (waiting.length > 0) timer ??= setTimeout(write, isInTrouble ? againMs : writeEveryMs)
    })
    return writing
  }

  /** Writes what was noted before, unless there is trouble. */
  async function writeNoted(): Promise<void> {
    const { noted } = count
    while (count.settled < noted) {
      await write()
      if (isInTrouble) return
    }
  }

  return {
    record(row) {
      if (isClosed) return droppedTotal.inc()
      count.noted++
      waiting.push(row)
      if (waiting.length > maxWaiting) drop(waiting.splice(0, 1))
      if (!writing) timer ??= setTimeout(write, writeEveryMs)
    },
    flush: () => atMost(writtenMs, writeNoted()),
    async close() {
      await atMost(closeMs, writeNoted())
      isClosed = true
      clearTimeout(timer)
      drop(waiting)
      waiting = []
    },
  }
}

/** Resolves with `work`, or without it once `ms` have passed. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** The same rows, no two of them at one instant: a later one is moved on by a microsecond. */
function distinct(rows: readonly RequestLogRow[]): RequestLogRow[] {
  let last = 0
  return rows
    .map(row => ({ row, at: microsecondsOf(row.created_at) }))
    .sort((a, b) => a.at - b.at)
    .map(({ row, at }) => {
      last = Math.max(at, last + 1)
      return last === at ? row : { ...row, created_at: instantAt(last) }
    })
}

/**
 * Writes rows of which no two have the same instant. Where another process has taken an instant in the organization, the
 * row is moved on, a little further at each try, until its instant is free. What an earlier try has written stays.
 */
async function writeRequests(db: Db, rows: readonly RequestLogRow[]): Promise<void> {
  let left = rows
  for (let leap = 8; !(await insertRequests(db, left)); leap *= 2) {
    const there = await selectExistingIds(db, left)
    const by = Math.ceil(Math.random() * leap)
    left = left
      .filter(row => !there.has(row.id))
      .map(row => ({ ...row, created_at: instantAt(microsecondsOf(row.created_at) + by) }))
    if (left.length === 0) return
  }
}
