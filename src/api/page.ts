import { t } from 'elysia'
import { fromIso, type Instant, toIso } from '../base/clock.ts'
import { type Id, type IdPrefix, isId } from '../base/ids.ts'
import { type Refusal, refuse } from '../base/refusal.ts'

const defaultLimit = 50
const maxLimit = 200

/** The query parameter `limit` of every list; read it with {@link pageSize}. */
export const limitParamSchema = t.Optional(
  t.String({
    pattern: '^0*[1-9][0-9]*$',
    expected: 'a whole number of at least 1',
    description: 'Rows on a page, at most; above 200 counts as 200.',
    documented: { type: 'integer', minimum: 1, default: 50 },
  }),
)

/** How many rows a page has: 50 by default, at most 200. */
export function pageSize(limit: string | undefined): number {
  return limit === undefined ? defaultLimit : Math.min(Number(limit), maxLimit)
}

/** An opaque cursor made of these strings; {@link decodeCursor} gives them back. */
export function encodeCursor(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/**
 * The page of a list that was read with one row more, which tells that another page follows.
 * @param positionOf what the cursor of the next page is made of, by the last row of this one
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  positionOf: (last: Row) => readonly string[],
): { readonly page: readonly Row[]; readonly next_cursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(...positionOf(last)) : null }
}

/** The refusals of {@link decodeCursor}. */
export const cursorRefusals = ['invalid_cursor'] as const

/** The `count` strings that a cursor is made of; `param` carries it. @throws Refusal `invalid_cursor` */
export function decodeCursor(cursor: string, count: number, param: CursorParam = 'cursor'): readonly string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts) && parts.length === count && parts.every(part => typeof part === 'string')) return parts
  } catch {
    // Not made by encodeCursor.
  }
  throw invalidCursor(cursor, param)
}

/**
 * The id in the cursor of a list that is ordered by id; null without a cursor: the list starts at its first row.
 * @throws Refusal `invalid_cursor`
 */
export function readIdCursor<Prefix extends IdPrefix>(prefix: Prefix, cursor: string | undefined): Id<Prefix> | null {
  if (cursor === undefined) return null
  const [id = ''] = decodeCursor(cursor, 1)
  if (isId(prefix, id)) return id
  throw invalidCursor(cursor)
}

/** The parameters that carry a cursor, and the field of a page that each is to be taken from. */
const cursorSources = {
  cursor: 'next_cursor',
  before: 'next_before',
  after: 'next_after',
  cursor_at: 'next_cursor.received_at',
  cursor_id: 'next_cursor.id',
} as const

type CursorParam = keyof typeof cursorSources

/** Has an operation with this query parameter pages that follow one another? */
export function isCursorParam(name: string): boolean {
  return Object.hasOwn(cursorSources, name)
}

/** The refusal of a cursor that this list did not give. */
export function invalidCursor(cursor: string, param: CursorParam = 'cursor'): Refusal {
  return refuse('invalid_cursor', {
    message: `\`${param}\` is ${JSON.stringify(cursor.slice(0, 80))}, which is not from this list; pass ${cursorSources[param]} unchanged.`,
    param,
  })
}

/**
 * The time in a cursor that is one: `before` of the lists that are ordered by time; null without it: the list starts at its
 * first row. @throws Refusal `invalid_cursor`
 */
export function readBefore(before: string | undefined): Instant | null {
  return before === undefined ? null : readCursorTime(before, 'before')
}

function readCursorTime(text: string, param: CursorParam): Instant {
  const at = fromIso(text)
  if (at === undefined) throw invalidCursor(text, param)
  return at
}

/** The date-time in a query or body parameter; `param` names it. @throws Refusal `invalid_request` */
export function readInstant(text: string, param: string): Instant {
  const at = fromIso(text)
  if (at === undefined)
    throw refuse('invalid_request', {
      message: `\`${param}\` is ${JSON.stringify(text.slice(0, 80))}; expected an ISO 8601 date-time such as 2026-01-31T08:15:00.000000Z.`,
      param,
    })
  return at
}

/** The message after which a page of messages starts. */
export interface MessageCursor {
  readonly receivedAt: Instant
  readonly id: string
}

/**
 * The cursor that `cursor_at` and `cursor_id` make up together; undefined without both.
 * @throws Refusal `invalid_cursor`, also when one of them is missing
 */
export function readMessageCursor(
  cursorAt: string | undefined,
  cursorId: string | undefined,
): MessageCursor | undefined {
  if (cursorAt === undefined && cursorId === undefined) return undefined
  if (cursorAt === undefined || cursorId === undefined)
    throw refuse('invalid_cursor', {
      message: 'cursor_at and cursor_id go together; pass both from next_cursor.',
      param: cursorAt === undefined ? 'cursor_at' : 'cursor_id',
    })
  if (!isId('msg', cursorId)) throw invalidCursor(cursorId, 'cursor_id')
  return { receivedAt: readCursorTime(cursorAt, 'cursor_at'), id: cursorId }
}

/** `next_cursor` of a page of messages whose last row is `last`; null at the end of the list. */
export function toJsonMessageCursor(last: MessageCursor | undefined): { received_at: string; id: string } | null {
  return last ? { received_at: toIso(last.receivedAt), id: last.id } : null
}
