import { expect, test } from 'bun:test'
import { explainSearch } from '../../../src/dashboard/screens/mail/list/search-syntax.ts'
import { parseQuery } from '../../../src/inbox/search/query.ts'

test('words, phrases and exclusions are told apart', () => {
  expect(explainSearch('invoice "next  week" -draft -"old one" ann@x.example')).toEqual({
    words: ['invoice'],
    phrases: ['next  week', 'ann@x.example'],
    without: ['draft', 'old one'],
    isSearchable: true,
  })
  expect(explainSearch('"not closed')).toMatchObject({ phrases: ['not closed'] })
  expect(explainSearch('-draft')).toMatchObject({ isSearchable: false, without: ['draft'] })
})

test('agrees with the server about what can be searched for', () => {
  const searches = [
    '',
    ' ',
    'a',
    '-a',
    '"',
    '""',
    '!!!',
    '- a',
    '-"a',
    'a-b',
    '日本',
    '…',
    '"…" x',
    'Grüße -x',
    '--a',
    'a"b"',
  ]
  for (const search of searches)
    expect([search, explainSearch(search).isSearchable]).toEqual([search, parseQuery(search) !== null])
})
