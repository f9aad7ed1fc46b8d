import { dayMs, hourMs, type Instant, microsecondsOf, minuteMs, plusMs } from '../../base/clock.ts'
import { inTransaction } from '../../base/database/database.ts'
import { counter } from '../../base/observability/metrics.ts'
import { appendMessageEvents } from '../../inbox/messages/message-event.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import { scanColumns } from '../message-row.ts'
import { type InfectedOutcome, type ScanAttachments, scanStored } from '../scan.ts'
import {
  lockFolder,
  selectDueRescans,
  type UnscannedRow,
  updateAttachmentScan,
  updateInfected,
  updateRescanAt,
} from '../table.ts'
import { type ReleaseDeps, releaseFromQuarantine } from './release.ts'

export interface RescanDeps extends ReleaseDeps {
  readonly scanner: Scanner
  readonly scanAttachments: ScanAttachments
}

const batchSize = 10
/** How long one scan may take before another process claims the message. */
const leaseMs = 10 * minuteMs
const firstWaitMs = 60_000
const longestWaitMs = hourMs
/** A message that could not be scanned for so long is not scanned again, and stays in quarantine. */
const giveUpMs = 14 * dayMs

const rescans = counter(
  'mailroom_rescans_total',
  'Later scans of messages that could not be scanned when they came, by result.',
  ['outcome'],
)

/** A round of the job `rescan`: scans messages that could not be scanned when they came. */
export async function rescanRound(deps: RescanDeps, signal: AbortSignal): Promise<'more' | 'done'> {
  return (await rescanDue(deps, signal)) > 0 ? 'more' : 'done'
}

/** Scans the messages that are due now, a few of them, if the scanner answers. How many were there? */
export async function rescanDue(deps: RescanDeps, signal?: AbortSignal): Promise<number> {
  const due = await selectDueRescans(deps.db, deps.clock.now(), batchSize)
  if (due.length === 0 || !(await deps.scanner.isReady())) return 0
  for (const row of due) {
    if (signal?.aborted) break
    const lease = plusMs(deps.clock.now(), leaseMs)
    if (await updateRescanAt(deps.db, row, lease)) await rescan({ ...row, rescan_at: lease }, deps)
  }
  return due.length
}

async function rescan(row: UnscannedRow, deps: RescanDeps): Promise<void> {
  const scan = await scanStored((start, end) => readBlob(row, deps.blobs, start, end), deps)
  rescans.inc({ outcome: scan.kind })
  switch (scan.kind) {
    case 'clean':
      return await releaseFromQuarantine(row, deps)
    case 'infected':
      return await quarantineInfected(row, scan, deps)
    case 'unscanned':
      await updateRescanAt(deps.db, row, scan.isPermanent ? null : nextRescan(row.received_at, deps.clock.now()))
      return
    default:
      return scan satisfies never
  }
}

/** The wait doubles the message's age, from one minute up to one hour. */
function nextRescan(receivedAt: Instant, now: Instant): Instant | null {
  const waitedMs = (microsecondsOf(now) - microsecondsOf(receivedAt)) / 1000
  return waitedMs > giveUpMs ? null : plusMs(now, Math.min(Math.max(waitedMs, firstWaitMs), longestWaitMs))
}

function readBlob(row: UnscannedRow, blobs: BlobStore, start: number, end?: number): AsyncIterable<Buffer> {
  return blobs.read(row.organization_id, row.blob_id, end === undefined ? { start } : { start, end })
}

async function quarantineInfected(row: UnscannedRow, scan: InfectedOutcome, deps: RescanDeps): Promise<void> {
  const { signature, attachments } = scan
  await inTransaction(deps.db, async tx => {
    const before = await lockFolder(tx, row.id)
    if (!(await updateInfected(tx, row, signature.slice(0, 255)))) return
    for (const [position, found] of attachments.entries())
      await updateAttachmentScan(tx, row, scanColumns(found), position)
    if (before !== 'quarantine') await appendMessageEvents(tx, 'message.quarantined', [row.id], deps.clock.now())
  })
}
