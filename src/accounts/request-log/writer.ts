import { instantAt, microsecondsOf } from '../../base/clock.ts'
import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { insertRequests, type RequestLogRow, selectExistingIds } from './table.ts'

/** Records API requests in the background: nothing it does can fail or delay a response. */
export interface RequestLog {
  /** Queues a request that was answered. When the queue is full its oldest row is dropped. */
  record(row: RequestLogRow): void
  /** Resolves once everything queued so far is written, at the latest after a second. */
  flush(): Promise<void>
  /** Writes the queued rows, for at most two seconds, and drops the rest. */
  close(): Promise<void>
}

const maxQueued = 10_000
const maxRows = 128
const writeEveryMs = 250
const retryMs = 1000
const flushMs = 1000
const closeMs = 2000

const droppedTotal = counter(
  'mailroom_request_log_dropped_total',
  'Requests missing from the request log because the database did not take them in time.',
)

/** A request log that writes batches to `db`, a few a second. While the database is down it queues the newest 10,000 requests. */
export function openRequestLog(db: Db, log: Log): RequestLog {
  let queue: RequestLogRow[] = []
  /** How many rows were ever queued, and how many of them were written or dropped. */
  const count = { queued: 0, settled: 0 }
  let timer: Timer | undefined
  let writing: Promise<void> | undefined
  let isFailing = false
  let isClosed = false

  function drop(rows: readonly RequestLogRow[]): void {
    droppedTotal.inc(rows.length)
    count.settled += rows.length
  }

  function putBack(batch: readonly RequestLogRow[]): void {
    queue = [...batch, ...queue]
    drop(queue.splice(0, Math.max(0, queue.length - maxQueued)))
  }

  async function writeBatch(): Promise<void> {
    const batch = distinctInstants(queue.splice(0, maxRows))
    try {
      await writeRequests(db, batch)
      count.settled += batch.length
      isFailing = false
    } catch (error) {
      const willRetry = isDatabaseUnavailable(error) && !isClosed
      if (!isFailing)
        log.error(
          { err: error, rows: batch.length },
          willRetry
            ? 'could not write the request log: its rows stay queued'
            : 'could not write the request log: dropped its rows',
        )
      isFailing = true
      if (willRetry) putBack(batch)
      else drop(batch)
    }
  }

  /** Writes one batch, then more while whole batches are queued; a rest waits for the timer. */
  async function writeAll(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    do await writeBatch()
    while (queue.length >= maxRows && !isFailing)
  }

  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (queue.length > 0) timer ??= setTimeout(write, isFailing ? retryMs : writeEveryMs)
    })
    return writing
  }

  /** Writes what was queued when it was called; stops at the first failure. */
  async function writeQueued(): Promise<void> {
    const { queued } = count
    while (count.settled < queued) {
      await write()
      if (isFailing) return
    }
  }

  return {
    record(row) {
      if (isClosed) return droppedTotal.inc()
      count.queued++
      queue.push(row)
      if (queue.length > maxQueued) drop(queue.splice(0, 1))
      if (!writing) timer ??= setTimeout(write, writeEveryMs)
    },
    flush: () => atMost(flushMs, writeQueued()),
    async close() {
      await atMost(closeMs, writeQueued())
      isClosed = true
      clearTimeout(timer)
      drop(queue)
      queue = []
    },
  }
}

/** Resolves when `work` does, at the latest after `ms`. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined
  const timeout = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, timeout])
  clearTimeout(timer)
}

/** The rows in order of time, no two at the same instant: each duplicate is moved a microsecond later. */
function distinctInstants(rows: readonly RequestLogRow[]): RequestLogRow[] {
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
 * Writes rows of which no two have the same instant. A row whose instant another process has used in the organization is
 * moved later, a little further at each attempt, until its instant is free. What an earlier attempt wrote stays.
 */
async function writeRequests(db: Db, rows: readonly RequestLogRow[]): Promise<void> {
  let remaining = rows
  for (let maxDelayUs = 8; !(await insertRequests(db, remaining)); maxDelayUs *= 2) {
    const writtenIds = await selectExistingIds(db, remaining)
    const delayUs = Math.ceil(Math.random() * maxDelayUs)
    remaining = remaining
      .filter(row => !writtenIds.has(row.id))
      .map(row => ({ ...row, created_at: instantAt(microsecondsOf(row.created_at) + delayUs) }))
    if (remaining.length === 0) return
  }
}
