import { counter } from '../../base/observability/metrics.ts'
import { type Cleaning, markForgotten, removeChunks, removeForgotten } from '../../ports/blobs/delete-unreferenced.ts'
import type { Work } from '../retention.ts'
import { moveCursor, selectCursor } from '../targets/cursors-table.ts'
import type { Step } from '../targets/scan.ts'
import { findReferred } from './blob-references-table.ts'

const removed = counter('mailroom_blobs_removed_total', 'Blobs that nothing referred to and that were removed.')
const removedBytes = counter('mailroom_blobs_removed_bytes_total', 'Bytes of those blobs.')

const cursorName = 'blobs'
const lookedAtOnce = 500
const removedAtOnce = 50
const chunkStepsAtOnce = 10
/** All blobs are looked at no more often than this. */
const cycleMs = 6 * 3_600_000

/** Finds the blobs that nothing refers to, and removes them once they have been forgotten for long enough. */
export function openBlobWork(use: Pick<Cleaning, 'db' | 'clock'>): readonly Work[] {
  const cleaning: Cleaning = { ...use, findReferred }
  let nextCycle = 0
  return [
    {
      name: 'blobs',
      async run() {
        const after = await selectCursor(use.db, cursorName, 0)
        if (after === '' && performance.now() < nextCycle) return nothing
        const next = await markForgotten(cleaning, after, lookedAtOnce)
        await moveCursor(use.db, cursorName, 0, next ?? '')
        if (next === null) nextCycle = performance.now() + cycleMs
        return { ...nothing, isMore: next !== null }
      },
    },
    {
      name: 'blobs',
      async run() {
        const { looked, count, bytes } = await removeForgotten(cleaning, removedAtOnce)
        removed.inc(count)
        removedBytes.inc(bytes)
        return { items: count, bytes, isMore: looked === removedAtOnce }
      },
    },
    {
      name: 'blobs',
      async run() {
        for (let i = 0; i < chunkStepsAtOnce; i++) if (!(await removeChunks(cleaning))) return nothing
        return { ...nothing, isMore: true }
      },
    },
  ]
}

const nothing: Step = { items: 0, bytes: 0, isMore: false }
