import { expect, test } from 'bun:test'
import { leadingCharacter, tokenize, toSearchText } from './tokenizer.ts'

test('splits a text into words, however short', () => {
  expect(tokenize('Hi, it is 5')).toEqual(['0hi', '0it', '0is', '05'])
  expect(toSearchText('Hi, it is 5')).toBe(' 0hi 0it 0is 05 ')
})

test('folds case and accents', () => {
  expect(tokenize('ÉCLAIR Straße')).toEqual(tokenize('éclair straße'))
  expect(tokenize('Éclair')).toEqual(tokenize('eclair'))
})

test('gives ASCII, at most 84 letters', () => {
  const words = tokenize(`a ö ${'x'.repeat(500)} ${'ж'.repeat(200)} 東京都 สวัสดี`)
  for (const word of words) expect(word).toMatch(/^[a-z0-9]{2,84}$/)
})

test('splits scripts without spaces into pairs, each of which shows its first character', () => {
  const words = tokenize('東京都')
  expect(words).toHaveLength(3)
  expect(words.map(leadingCharacter)).toEqual(['東', '京', '都'].flatMap(value => tokenize(value)))
  expect(['tokyo', 'жук', '5'].flatMap(tokenize).map(leadingCharacter)).toEqual([undefined, undefined, undefined])
})
