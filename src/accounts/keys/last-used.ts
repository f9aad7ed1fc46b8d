import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { updateMembersActive } from '../members/table.ts'
import { type KeyAuthRow, updateKeysUsed } from './table.ts'

const noteEveryMs = 2000

/** Keeps `last_used_at` of keys and `last_active_at` of the members whose keys they are. */
export interface KeyUseTracker {
  record(row: KeyAuthRow, now: Instant): void
  /** Writes down what is not yet written. */
  close(): Promise<void>
}

/** Notes uses to the minute, apart from the requests. */
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
      timer ??= setTimeout(() => void write(), noteEveryMs)
    },
    async close() {
      clearTimeout(timer)
      await write()
    },
  }
}

/** What could not be written is written with the next use. */
async function writeDue<Of>(
  due: Map<Of, Instant>,
  update: (ids: readonly Of[], minute: Instant) => Promise<void>,
): Promise<void> {
  const byMinute = Map.groupBy([...due], ([, minute]) => minute)
  due.clear()
  for (const [minute, of] of byMinute)
    await update(
      of.map(([id]) => id),
      minute,
    ).catch(() => undefined)
}
