import { expect, test } from 'bun:test'
import { csvLine, formulaSafe } from './csv.ts'

test('a cell is quoted where RFC 4180 wants it, and where spaces would be lost', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\r\nlines', ' space ', ''])).toBe(
    'plain,"a,b","say ""hi""","two\r\nlines"," space ",\r\n',
  )
})

test.each([
  ['=HYPERLINK("http://x.example")', `'=HYPERLINK("http://x.example")`],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['  =1', "'  =1"],
  ['＝1', "'＝1"],
  ['\u200b=1', "'\u200b=1"],
  ['a=1', 'a=1'],
  ['', ''],
])('%j is not taken as a formula', (cell, safe) => {
  expect(formulaSafe(cell)).toBe(safe)
})
