import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { updateMembersActive } from '../members/table.ts'
import { type KeyAuthRow, updateKeysUsed } from './table.ts'

const writeEveryMs = 2000

/** Keeps `last_used_at` of keys and `last_active_at` of their members up to date. */
export interface KeyUseTracker {
  record(row: KeyAuthRow, now: Instant): void
  /** Writes what is pending. */
  close(): Promise<void>
}

/** Tracks uses to the minute and writes them in batches, outside of the requests. */
export function startKeyUseTracker(db: Db): KeyUseTracker {
  const used = new Map<Id<'key'>, Instant>()
  const active = new Map<Id<'mem'>, Instant>()
  let timer: Timer | undefined

  async function write(): Promise<void> {
    timer = undefined
    await writeDue(used, (ids, minute) => updateKeysUsed(db, ids, minute))
    await writeDue(active, (ids, minute) => updateMembersActive(db, ids, minute))
  }

  return {
    record(row, now) {
      const minute = `${now.slice(0, 17)}00.000000` as Instant
      const isUseKnown = row.last_used_at !== null && row.last_used_at >= minute
      const isActivityKnown =
        row.member_id === null || (row.member_active_at !== null && row.member_active_at >= minute)
      if (isUseKnown && isActivityKnown) return
      used.set(row.id, minute)
      if (row.member_id !== null) active.set(row.member_id, minute)
      timer ??= setTimeout(() => void write(), writeEveryMs)
    },
    async close() {
      clearTimeout(timer)
      await write()
    },
  }
}

/** Writes and clears `due`. A failed write is dropped: the next use of the key is recorded again. */
async function writeDue<KeyOrMemberId>(
  due: Map<KeyOrMemberId, Instant>,
  update: (ids: readonly KeyOrMemberId[], minute: Instant) => Promise<void>,
): Promise<void> {
  const byMinute = Map.groupBy([...due], ([, minute]) => minute)
  due.clear()
  for (const [minute, entries] of byMinute)
    await update(
      entries.map(([id]) => id),
      minute,
    ).catch(() => undefined)
}
