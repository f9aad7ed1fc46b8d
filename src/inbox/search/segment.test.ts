import { expect, test } from 'bun:test'
import { parseQuery } from './query.ts'
import { buildPostings, readPostings, segmentQuery, termKey } from './segment.ts'
import { toSearchText } from './tokenizer.ts'

/** The places of these texts where a block has `query`. */
function placesOf(texts: readonly string[], query: string): readonly number[] {
  const read = parseQuery(query)
  if (!read) throw new Error('it asks for nothing')
  const { terms, positionsIn } = segmentQuery(read)
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
  expect(placesOf(few, 'red')).toEqual([3, 2, 1, 0])
  expect(placesOf(few, 'RED car')).toEqual([2, 0])
  expect(placesOf(few, 'red -car')).toEqual([3, 1])
  expect(placesOf(few, 'nowhere')).toEqual([])
  expect(placesOf(few, '京')).toEqual([3])
  expect(placesOf(few, '都')).toEqual([3])
  expect(placesOf(few, 'red -京')).toEqual([2, 1, 0])
})

const many = Array.from({ length: 2048 }, (_, i) =>
  i % 3 === 0 ? 'red car' : i % 3 === 1 ? 'car red' : 'red blue car',
)

test('knows which messages have two common words next to each other', () => {
  expect(placesOf(many, 'red car')).toHaveLength(2048)
  expect(placesOf(many, '"red car"')).toEqual(many.flatMap((_, i) => (i % 3 === 0 ? [i] : [])).reverse())
  expect(placesOf(many, '"blue red"')).toEqual([])
})

test('gives the same positions for words in few and in many messages', () => {
  for (const count of [1, 2, 127, 128, 129, 2047, 2048]) {
    const texts = Array.from({ length: 2048 }, (_, i) => (i < count ? 'red' : 'blue'))
    expect(placesOf(texts, 'red')).toHaveLength(count)
    expect(placesOf([...texts.slice(0, 2047), 'red'], 'red -blue')).toHaveLength(Math.min(count + 1, 2048))
  }
})
