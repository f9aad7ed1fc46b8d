import { expect, test } from 'bun:test'
import { changeOf, doneText, inverseOf } from './acts.ts'

const message = (id: string, folder: 'inbox' | 'spam' | 'trash', read = false, starred = false) => ({
  id,
  folder,
  read,
  starred,
})
const before = [
  message('a', 'inbox'),
  message('b', 'spam', true),
  message('c', 'inbox', false, true),
  message('d', 'trash', true),
]

test('a move is taken back into each folder that a message came from', () => {
  expect(inverseOf({ kind: 'move', folder: 'trash' }, before)).toEqual([
    { ids: ['a', 'c'], act: { kind: 'move', folder: 'inbox' } },
    { ids: ['b'], act: { kind: 'move', folder: 'spam' } },
  ])
})

test('a mark or a star is taken back only where it changed something', () => {
  expect(inverseOf({ kind: 'read', read: true }, before)).toEqual([
    { ids: ['a', 'c'], act: { kind: 'read', read: false } },
  ])
  expect(inverseOf({ kind: 'star', starred: true }, before)).toEqual([
    { ids: ['a', 'b', 'd'], act: { kind: 'star', starred: false } },
  ])
  expect(inverseOf({ kind: 'read', read: true }, [message('b', 'spam', true)])).toEqual([])
})

test('an act changes one thing, and says what it did and to how many', () => {
  expect(changeOf({ kind: 'move', folder: 'archive' })).toEqual({ folder: 'archive' })
  expect(changeOf({ kind: 'star', starred: false })).toEqual({ starred: false })
  expect(doneText({ kind: 'move', folder: 'trash' }, 1)).toBe('1 message moved to the trash.')
  expect(doneText({ kind: 'read', read: false }, 2000)).toBe('2,000 messages marked as unread.')
})
