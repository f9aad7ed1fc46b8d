import { expect, test } from 'bun:test'
import { applyChange, idsBetween, nextAfter, restoreRows } from './snapshot.ts'

const row = (id: string, folder = 'inbox') => ({ id, folder, read: false, starred: false })
const rows = ['a', 'b', 'c', 'd'].map(id => row(id))
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id).join('')
const of = (...list: string[]) => new Set(list)

test('a row that leaves its folder goes, and stays among search results', () => {
  expect(ids(applyChange(rows, of('b', 'd'), { folder: 'trash' }, 'inbox'))).toBe('ac')
  expect(applyChange(rows, of('b'), { folder: 'trash' }, null)[1]).toEqual(row('b', 'trash'))
  expect(applyChange(rows, of('b'), { read: true }, 'inbox').map(({ read }) => read)).toEqual([
    false,
    true,
    false,
    false,
  ])
})

test('what Undo puts back stands where it stood, among what came or was loaded since', () => {
  const left = applyChange(rows, of('b', 'c'), { folder: 'trash' }, 'inbox')
  expect(ids(restoreRows(left, rows, of('b', 'c')))).toBe('abcd')
  expect(ids(restoreRows([row('new'), ...left, row('older')], rows, of('b', 'c')))).toBe('newabcdolder')
  expect(ids(restoreRows([], rows, of('a', 'b', 'c', 'd')))).toBe('abcd')
  // What another act took away meanwhile does not come back.
  expect(ids(restoreRows([row('d')], rows, of('b')))).toBe('bd')
})

test('after an act the next message opens, at the end the one before', () => {
  expect(nextAfter(rows, of('b'))).toBe('c')
  expect(nextAfter(rows, of('b', 'c'))).toBe('d')
  expect(nextAfter(rows, of('d'))).toBe('c')
  expect(nextAfter(rows, of('c', 'd'))).toBe('b')
  expect(nextAfter(rows, of('a', 'b', 'c', 'd'))).toBeNull()
})

test('Shift ticks what is between, in either direction', () => {
  expect(idsBetween(rows, 'b', 'd')).toEqual(['b', 'c', 'd'])
  expect(idsBetween(rows, 'c', 'a')).toEqual(['a', 'b', 'c'])
  expect(idsBetween(rows, 'gone', 'b')).toEqual(['b'])
})
