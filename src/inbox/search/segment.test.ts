import { expect, test } from 'bun:test'
import { parseQuery } from './query.ts'
import { buildPostings, readPostings, segmentQuery, termKey } from './segment.ts'
import { toSearchText } from './tokenizer.ts'

/** The positions of the texts that match `query` in a segment of them. */
function matchingPositions(texts: readonly string[], query: string): readonly number[] {
  const parsed = parseQuery(query)
  if (!parsed) throw new Error('the query has no word')
  const { terms, positionsIn } = segmentQuery(parsed)
  const all = readPostings(buildPostings(texts.map(toSearchText).join('\n')))
  const postings = new Map(all.map(({ term, list }) => [termKey(term), list]))
  return positionsIn(
    new Map(
      terms.flatMap(term =>
        postings.has(termKey(term)) ? [[termKey(term), postings.get(termKey(term)) ?? term]] : [],
      ),
    ),
  )
}

const few = ['the red car', 'a red house', 'the car, red', '東京都 red']

test('gives the positions of words, the newest first, without those of excluded words', () => {
  expect(matchingPositions(few, 'red')).toEqual([3, 2, 1, 0])
  expect(matchingPositions(few, 'RED car')).toEqual([2, 0])
  expect(matchingPositions(few, 'red -car')).toEqual([3, 1])
  expect(matchingPositions(few, 'nowhere')).toEqual([])
  expect(matchingPositions(few, '京')).toEqual([3])
  expect(matchingPositions(few, '都')).toEqual([3])
  expect(matchingPositions(few, 'red -京')).toEqual([2, 1, 0])
})

const many = Array.from({ length: 2048 }, (_, i) =>
  i % 3 === 0 ? 'red car' : i % 3 === 1 ? 'car red' : 'red blue car',
)

test('knows which messages have two common words next to each other', () => {
  expect(matchingPositions(many, 'red car')).toHaveLength(2048)
  expect(matchingPositions(many, '"red car"')).toEqual(many.flatMap((_, i) => (i % 3 === 0 ? [i] : [])).reverse())
  expect(matchingPositions(many, '"blue red"')).toEqual([])
})

test('gives the same positions for words in few and in many messages', () => {
  for (const count of [1, 2, 127, 128, 129, 2047, 2048]) {
    const texts = Array.from({ length: 2048 }, (_, i) => (i < count ? 'red' : 'blue'))
    expect(matchingPositions(texts, 'red')).toHaveLength(count)
    expect(matchingPositions([...texts.slice(0, 2047), 'red'], 'red -blue')).toHaveLength(Math.min(count + 1, 2048))
  }
})
