import { t } from 'elysia'
import { fromIso, type Instant, toIso } from '../base/clock.ts'
import { refuse } from '../base/refusal.ts'

const defaultLimit = 50
const maxLimit = 200

/** The query parameter `limit` of every list; read it with {@link pageSize}. */
export const limitParamSchema = t.Optional(
  t.String({
    pattern: '^0*[1-9][0-9]{0,8}$',
    expected: 'a whole number of at least 1',
    description: 'The most rows that a page holds; more than 200 is as 200.',
    documented: { type: 'integer', minimum: 1, default: 50 },
  }),
)

/** How many rows a page holds: 1 to 200, 50 where nothing is said; more is capped. */
export function pageSize(limit: string | undefined): number {
  return limit === undefined ? defaultLimit : Math.min(Number(limit), maxLimit)
}

/** An opaque cursor that holds these texts: what {@link decodeCursor} gives back. */
export function encodeCursor(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The refusals of {@link decodeCursor}. */
export const cursorRefusals = ['invalid_cursor'] as const

/** The texts in a cursor of ours, `count` of them. @throws Refusal `invalid_cursor` */
export function decodeCursor(cursor: string, count: number): readonly string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts) && parts.length === count && parts.every(part => typeof part === 'string')) return parts
  } catch {
    // Not one of ours.
  }
  throw refuse('invalid_cursor', {
    message: `"${cursor.slice(0, 80)}" is not a cursor of this list; pass on next_cursor as it was given.`,
    param: 'cursor',
  })
}

/** The date-time in the query or body parameter `param`. @throws Refusal `invalid_request` */
export function readInstant(text: string, param: string): Instant {
  const at = fromIso(text)
  if (at === undefined)
    throw refuse('invalid_request', {
      message: `\`${param}\` is ${JSON.stringify(text.slice(0, 80))}; expected an ISO 8601 date-time such as 2026-01-31T08:15:00.000000Z.`,
      param,
    })
  return at
}

/** Where a page of messages starts: after this one. */
export interface MessageCursor {
  readonly receivedAt: Instant
  readonly id: string
}

/**
 * The position that `cursor_at` and `cursor_id` give together, undefined without either.
 * @throws Refusal `invalid_cursor` when one is missing, `invalid_request` when `cursor_at` is no date-time
 */
export function readMessageCursor(
  cursorAt: string | undefined,
  cursorId: string | undefined,
): MessageCursor | undefined {
  if (cursorAt === undefined && cursorId === undefined) return undefined
  if (cursorAt === undefined || cursorId === undefined)
    throw refuse('invalid_cursor', {
      message: 'cursor_at and cursor_id go together; pass on both from next_cursor.',
      param: cursorAt === undefined ? 'cursor_at' : 'cursor_id',
    })
  return { receivedAt: readInstant(cursorAt, 'cursor_at'), id: cursorId }
}

/** `next_cursor` of a page of messages: the last row's place, or null at the end. */
export function toJsonMessageCursor(last: MessageCursor | undefined): { received_at: string; id: string } | null {
  return last ? { received_at: toIso(last.receivedAt), id: last.id } : null
}
