import { hourMs } from '../../base/clock.ts'
import { counter } from '../../base/observability/metrics.ts'
import {
  type BlobCleanupDeps,
  deleteOrphanedChunks,
  deleteUnreferencedBlobs,
  markUnreferencedBlobs,
} from '../../ports/blobs/delete-unreferenced.ts'
import { selectCursor, upsertCursor } from '../targets/cursors-table.ts'
import type { RetentionTask, ScanStep } from '../targets/scan.ts'
import { selectReferencedBlobs } from './blob-references-table.ts'

const removed = counter('mailroom_blobs_removed_total', 'Blobs deleted because nothing referred to them.')
const removedBytes = counter(
  'mailroom_blobs_removed_bytes_total',
  'Bytes of the blobs deleted because nothing referred to them.',
)

const cursorName = 'blobs'
const blobsPerCheck = 500
const blobsPerRemoval = 50
const chunkStepsPerRound = 10
/** All blobs are checked at most once in this time. */
const cycleMs = 6 * hourMs

/** Finds the blobs that nothing refers to, and deletes them seven days later (see ports/blobs/delete-unreferenced.ts). */
export function blobCleanupTasks(deps: Pick<BlobCleanupDeps, 'db' | 'clock'>): readonly RetentionTask[] {
  const cleanupDeps: BlobCleanupDeps = { ...deps, selectReferencedBlobs }
  let nextCycle = 0
  return [
    {
      name: 'blobs',
      async run() {
        const after = await selectCursor(deps.db, cursorName, 0)
        if (after === '' && performance.now() < nextCycle) return emptyStep
        const next = await markUnreferencedBlobs(cleanupDeps, after, blobsPerCheck)
        await upsertCursor(deps.db, cursorName, 0, next ?? '')
        if (next === null) nextCycle = performance.now() + cycleMs
        return { ...emptyStep, isMore: next !== null }
      },
    },
    {
      name: 'blobs',
      async run() {
        const { examined, count, bytes } = await deleteUnreferencedBlobs(cleanupDeps, blobsPerRemoval)
        removed.inc(count)
        removedBytes.inc(bytes)
        return { items: count, bytes, isMore: examined === blobsPerRemoval }
      },
    },
    {
      name: 'blobs',
      async run() {
        for (let i = 0; i < chunkStepsPerRound; i++) if (!(await deleteOrphanedChunks(cleanupDeps))) return emptyStep
        return { ...emptyStep, isMore: true }
      },
    },
  ]
}

const emptyStep: ScanStep = { items: 0, bytes: 0, isMore: false }
