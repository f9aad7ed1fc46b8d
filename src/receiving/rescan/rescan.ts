import { Readable } from 'node:stream'
import { type Clock, type Instant, microsecondsOf, plusMs } from '../../base/clock.ts'
import { type Rounds, startRounds } from '../../base/concurrency/background-job.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import type { Blobs } from '../../ports/blobs/port.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import { scanColumns } from '../message-row.ts'
import type { TakeReport } from '../reports/reports.ts'
import { scanAttachments } from '../scan.ts'
import { condemnMessage, moveRescan, selectUnscanned, setAttachmentScan, type UnscannedRow } from '../table.ts'
import { release } from './release.ts'

export interface Rescanning {
  readonly db: Db
  readonly blobs: Blobs
  readonly scanner: Scanner
  readonly takeReport: TakeReport
  readonly clock: Clock
  readonly log: Log
}

const pauseMs = 5000
const maxAtOnce = 10
/** How long one scan may take before another process takes the message. */
const leaseMs = 10 * 60_000
const firstWaitMs = 60_000
const longestWaitMs = 3_600_000
/** What cannot be scanned for so long stays in quarantine. */
const giveUpMs = 14 * 24 * 3_600_000

const rescans = counter('mailroom_rescans_total', 'Later scans of messages that could not be scanned.', ['outcome'])

/** Scans again, for as long as it runs, what could not be scanned when it came. `stop` waits for the scan under way. */
export function startRescanning(use: Rescanning): Rounds {
  const options = { pauseMs, log: use.log, failure: 'could not scan messages again' }
  return startRounds(options, async signal => ((await rescanDue(use, signal)) > 0 ? 'more' : 'done'))
}

/** Scans the messages that are due now, a few of them, if the scanner answers. How many were there? */
export async function rescanDue(use: Rescanning, signal?: AbortSignal): Promise<number> {
  const due = await selectUnscanned(use.db, use.clock.now(), maxAtOnce)
  if (due.length === 0 || !(await use.scanner.isReady())) return 0
  for (const row of due) {
    if (signal?.aborted) break
    const lease = plusMs(use.clock.now(), leaseMs)
    if (await moveRescan(use.db, row, lease)) await rescan({ ...row, rescan_at: lease }, use)
  }
  return due.length
}

async function rescan(row: UnscannedRow, use: Rescanning): Promise<void> {
  const scan = await use.scanner.scan({ kind: 'stream', stream: openBlob(row, use.blobs) })
  rescans.inc({ outcome: scan.kind })
  switch (scan.kind) {
    case 'clean':
      return await release(row, use)
    case 'infected':
      return await condemn(row, scan.signature, use)
    case 'unscanned':
      await moveRescan(use.db, row, scan.isLasting ? null : nextRescan(row.received_at, use.clock.now()))
      return
    default:
      return scan satisfies never
  }
}

/** As long again as it has waited so far, from one minute up to one hour. */
function nextRescan(receivedAt: Instant, now: Instant): Instant | null {
  const waitedMs = (microsecondsOf(now) - microsecondsOf(receivedAt)) / 1000
  return waitedMs > giveUpMs ? null : plusMs(now, Math.min(Math.max(waitedMs, firstWaitMs), longestWaitMs))
}

function openBlob(row: UnscannedRow, blobs: Blobs): Readable {
  return Readable.from(blobs.read(row.organization_id, row.blob_id), { objectMode: false })
}

async function condemn(row: UnscannedRow, signature: string, use: Rescanning): Promise<void> {
  const scans = await scanAttachments(openBlob(row, use.blobs), use.scanner)
  await inTransaction(use.db, async tx => {
    if (!(await condemnMessage(tx, row, signature.slice(0, 255)))) return
    for (const [position, scan] of scans.entries()) await setAttachmentScan(tx, row, scanColumns(scan), position)
  })
}
