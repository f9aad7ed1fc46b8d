import { isDeepStrictEqual } from 'node:util'
import { t } from 'elysia'
import { type Instant, instantAt, microsecondsOf, toIso } from '../base/clock.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import { nullable } from './common-schemas.ts'
import { readInstant } from './page.ts'

const description =
  'The `updated_at` that was read: what has changed since is left as it is, and the answer is 409 `changed_since_read`.'

/**
 * `if_updated_at` in the body of a change: it is made only if nobody has changed the resource since the caller read it, so
 * that two people who edit one thing do not overwrite each other unseen.
 */
export const ifUpdatedAtSchema = t.Optional(t.String({ description }))

/** The same for what may have no `updated_at`. */
export const ifUpdatedAtOrNullSchema = t.Optional(nullable(t.String({ description })))

/** What a change depends on; absent: on nothing. */
export interface ConditionalChange {
  readonly if_updated_at?: string | null | undefined
}

/** The refusals of {@link requireUnchanged}. */
export const ifUpdatedAtRefusals = ['changed_since_read'] as const

/**
 * Nobody has changed the row since the caller read it. To be called with the row locked.
 * @param what names it in a sentence, such as `The draft drf_1`
 * @throws Refusal `changed_since_read`, `invalid_request`
 */
export function requireUnchanged(
  what: string,
  { updated_at }: { readonly updated_at: Instant | null },
  change: ConditionalChange,
): void {
  const expected = readIfUpdatedAt(change)
  if (expected !== undefined && expected !== updated_at) throw changedSinceRead(what, updated_at)
}

/** The `updated_at` that a change depends on; undefined: on none. @throws Refusal `invalid_request` */
export function readIfUpdatedAt({ if_updated_at: text }: ConditionalChange): Instant | null | undefined {
  return typeof text === 'string' ? readInstant(text, 'if_updated_at') : text
}

/** The refusal of a change that does not know of the last one. */
export function changedSinceRead(what: string, updatedAt: Instant | null): Refusal {
  return refuse('changed_since_read', {
    message: `${what} was changed${updatedAt === null ? '' : ` at ${toIso(updatedAt)}`}, after it was read.`,
    param: 'if_updated_at',
    resolution: 'Read it again, and decide what to keep.',
  })
}

/** When a row was last changed, its creation included. */
export function lastUpdatedAt(row: DatedRow): Instant {
  return row.updated_at ?? row.created_at
}

/** What has a date of its last change; null: it was not changed since it was created. */
interface DatedRow {
  readonly created_at: Instant
  readonly updated_at: Instant | null
}

/**
 * The row as a change leaves it, with the date of the change. The row itself where the change changes nothing: then nothing is
 * to be written, and whoever read it before has read what it is.
 * @param present what of a row counts, such as its JSON: a database may write JSON columns in other words
 */
export function applyChange<Row extends DatedRow>(
  row: Row,
  change: Partial<Row>,
  now: Instant,
  present: (row: Row) => unknown = row => row,
): Row & { readonly updated_at: Instant | null } {
  const next = { ...row, ...change }
  if (isDeepStrictEqual(present(next), present(row))) return row
  return { ...next, updated_at: nextUpdatedAt(lastUpdatedAt(row), now) }
}

/** The `updated_at` of a change: now, but always later than the one before, by which changes are told apart. */
export function nextUpdatedAt(last: Instant, now: Instant): Instant {
  return now > last ? now : instantAt(microsecondsOf(last) + 1)
}
