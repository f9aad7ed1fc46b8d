import { expect, test } from 'bun:test'
import { type Instant, toIso } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import { Refusal } from '../base/refusal.ts'
import {
  cutPage,
  decodeCursor,
  encodeCursor,
  pageSize,
  readBefore,
  readIdCursor,
  readInstant,
  readMessageCursor,
  toJsonMessageCursor,
} from './page.ts'

function refusalOf(run: () => unknown): [string, string | undefined] | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [error.code, error.detail.param]
  }
}

test('has 50 rows on a page by default, and at most 200', () => {
  expect([undefined, '1', '007', '200', '201', '9'.repeat(20), '9'.repeat(400)].map(pageSize)).toEqual([
    50, 1, 7, 200, 200, 200, 200,
  ])
})

test('decodes its own opaque cursors and refuses others', () => {
  expect(decodeCursor(encodeCursor('a b', 'ü'), 2)).toEqual(['a b', 'ü'])
  for (const cursor of [encodeCursor('a'), 'x', '', Buffer.from('[1,2]').toString('base64url')])
    expect(refusalOf(() => decodeCursor(cursor, 2))).toEqual(['invalid_cursor', 'cursor'])
})

test('a page has as many rows as it may, and a cursor where another one follows', () => {
  const rows = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
  const idOf = ({ id }: { readonly id: string }) => [id]
  expect(cutPage(rows, 2, idOf)).toEqual({ page: rows.slice(0, 2), next_cursor: encodeCursor('b') })
  expect(cutPage(rows, 3, idOf)).toEqual({ page: rows, next_cursor: null })
  expect(cutPage([], 3, idOf)).toEqual({ page: [], next_cursor: null })
})

test('reads an id out of a cursor, of the right kind only', () => {
  const id = newId('tpl')
  expect(readIdCursor('tpl', encodeCursor(id))).toBe(id)
  expect(readIdCursor('tpl', undefined)).toBeNull()
  expect(refusalOf(() => readIdCursor('drf', encodeCursor(id)))).toEqual(['invalid_cursor', 'cursor'])
})

test('reads the two parts of a message cursor together', () => {
  const last = { receivedAt: '2026-01-31 08:15:00.000001' as Instant, id: newId('msg') }
  const shown = toJsonMessageCursor(last)
  expect(shown).toEqual({ received_at: toIso(last.receivedAt), id: last.id })
  expect(readMessageCursor(shown?.received_at, shown?.id)).toEqual(last)
  expect(readMessageCursor(undefined, undefined)).toBeUndefined()
  expect(toJsonMessageCursor(undefined)).toBeNull()
  expect(refusalOf(() => readMessageCursor('2026-01-31T08:15:00Z', undefined))).toEqual(['invalid_cursor', 'cursor_id'])
  expect(refusalOf(() => readMessageCursor(undefined, last.id))).toEqual(['invalid_cursor', 'cursor_at'])
  for (const [at, id, param] of [
    ['yesterday', last.id, 'cursor_at'],
    ['', last.id, 'cursor_at'],
    [toIso(last.receivedAt), '', 'cursor_id'],
    [toIso(last.receivedAt), 'msg_x', 'cursor_id'],
    [toIso(last.receivedAt), newId('eml'), 'cursor_id'],
  ] as const)
    expect([at, id, refusalOf(() => readMessageCursor(at, id))]).toEqual([at, id, ['invalid_cursor', param]])
})

test('reads a time as a cursor, and as any other parameter', () => {
  expect(readBefore(undefined)).toBeNull()
  expect(readBefore('2026-01-31T08:15:00.000001Z')).toBe('2026-01-31 08:15:00.000001' as Instant)
  for (const text of ['', 'yesterday', '2026-01-31', 'x'.repeat(1000)])
    expect(refusalOf(() => readBefore(text))).toEqual(['invalid_cursor', 'before'])
  expect(refusalOf(() => readInstant('yesterday', 'expires_at'))).toEqual(['invalid_request', 'expires_at'])
})
