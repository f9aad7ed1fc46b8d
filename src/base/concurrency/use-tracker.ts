import type { Instant } from '../clock.ts'

const writeEveryMs = 2000

type WriteUses<Id extends string> = (ids: readonly Id[], minute: Instant) => Promise<void>

type UpdatesByKind = Readonly<Record<string, WriteUses<never>>>

/** Keeps columns such as `last_used_at` up to date. */
export interface UseTracker<Updates extends UpdatesByKind> {
  /** @param known what the database has; null: nothing yet */
  record<Kind extends keyof Updates>(
    kind: Kind,
    id: Parameters<Updates[Kind]>[0][number],
    known: Instant | null,
    now: Instant,
  ): void
  /** Writes what is pending. */
  close(): Promise<void>
}

/**
 * Tracks uses to the minute and writes them in batches, outside of the requests. A write that fails is dropped: the next use
 * is recorded again.
 * @param updates for each kind of thing, what sets the column of those whose value is older than the minute
 */
export function openUseTracker<Updates extends UpdatesByKind>(updates: Updates): UseTracker<Updates> {
  const pending = new Map(Object.keys(updates).map(kind => [kind, new Map<string, Instant>()]))
  let timer: Timer | undefined

  async function write(): Promise<void> {
    timer = undefined
    for (const [kind, uses] of pending) await writeUses(uses, updates[kind] as unknown as WriteUses<string>)
  }

  return {
    record(kind, id, known, now) {
      const minute = `${now.slice(0, 17)}00.000000` as Instant
      if (known !== null && known >= minute) return
      pending.get(kind as string)?.set(id, minute)
      timer ??= setTimeout(() => void write(), writeEveryMs)
    },
    async close() {
      clearTimeout(timer)
      await write()
    },
  }
}

async function writeUses(uses: Map<string, Instant>, update: WriteUses<string>): Promise<void> {
  const byMinute = Map.groupBy([...uses], ([, minute]) => minute)
  uses.clear()
  for (const [minute, entries] of byMinute)
    await update(
      entries.map(([id]) => id),
      minute,
    ).catch(() => undefined)
}
