import { expect, test } from 'bun:test'
import { likePattern, parseQuery } from './query.ts'
import { tokenize, toSearchText } from './tokenizer.ts'

const patterns = (query: string) => {
  const read = parseQuery(query)
  return read && { required: read.required.map(likePattern), excluded: read.excluded.map(likePattern) }
}

test('reads words, phrases and exclusions', () => {
  expect(patterns('red "big car" -blue -"old house"')).toEqual({
    required: ['% 0red %', '% 0big 0car %'],
    excluded: ['% 0blue %', '% 0old 0house %'],
  })
})

test('matches the beginning of a longer text in a script without spaces', () => {
  const [first, second, last] = tokenize('東京都')
  expect(patterns('東京')?.required).toEqual([`% ${first} %`])
  expect(patterns('東京都')?.required).toEqual([`% ${first} ${second} %`])
  expect(patterns('都')?.required).toEqual([`% ${last}%`])
  expect(toSearchText('東京都')).toContain(` ${first} ${second} `)
})

test('is null with only exclusions or signs', () => {
  for (const query of ['-red', '"', '+', '-"a b"', '***', '""']) expect(parseQuery(query)).toBeNull()
})

test('contains no character that LIKE reads as a wildcard', () => {
  expect(patterns('a% _b \\c "d%e')?.required).toEqual(['% 0a %', '% 0b %', '% 0c %', '% 0d 0e %'])
})
