import { expect, test } from 'bun:test'
import { likePattern, parseQuery } from './query.ts'
import { tokenize, toSearchText } from './tokenizer.ts'

const patterns = (query: string) => {
  const read = parseQuery(query)
  return read && { wanted: read.required.map(likePattern), unwanted: read.excluded.map(likePattern) }
}

test('reads words, phrases and exclusions', () => {
  expect(patterns('red "big car" -blue -"old house"')).toEqual({
    wanted: ['% 0red %', '% 0big 0car %'],
    unwanted: ['% 0blue %', '% 0old 0house %'],
  })
})

test('lets what is asked of an undivided script go on in the text', () => {
  const [first, second, last] = tokenize('東京都')
  expect(patterns('東京')?.wanted).toEqual([`% ${first} %`])
  expect(patterns('東京都')?.wanted).toEqual([`% ${first} ${second} %`])
  expect(patterns('都')?.wanted).toEqual([`% ${last}%`])
  expect(toSearchText('東京都')).toContain(` ${first} ${second} `)
})

test('asks for nothing with exclusions or signs alone', () => {
  for (const query of ['-red', '"', '+', '-"a b"', '***', '""']) expect(parseQuery(query)).toBeNull()
})

test('lets no sign through that the server reads as a wildcard', () => {
  expect(patterns('a% _b \\c "d%e')?.wanted).toEqual(['% 0a %', '% 0b %', '% 0c %', '% 0d 0e %'])
})
