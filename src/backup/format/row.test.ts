import { expect, test } from 'bun:test'
import { type ColumnValue, readRow, splitLines, writeRow } from './row.ts'

const columns = [
  { name: 'id', isBinary: false },
  { name: 'count', isBinary: false },
  { name: 'hash', isBinary: true },
]

test.each<[ColumnValue, ColumnValue, ColumnValue]>([
  ['a', 1, Buffer.from([0, 255, 10])],
  ['two\nlines, "quoted", \u0000 \u2028 🌍', 0, Buffer.alloc(0)],
  [null, null, null],
])('a row is read back as it was written: %p', (id, count, hash) => {
  const line = writeRow(columns, { id, count, hash })
  expect(line).not.toContain('\n')
  expect(readRow(columns, line)).toEqual([id, count, hash])
})

test('a line with too many or too few values is an error', () => {
  expect(() => readRow(columns, '["a",1]')).toThrow('does not have the 3 columns')
})

test('a file is split into the lines before each line end', () => {
  expect(splitLines(Buffer.from('a\n\nb\n'))).toEqual(['a', '', 'b'])
  expect(splitLines(Buffer.alloc(0))).toEqual([])
})
