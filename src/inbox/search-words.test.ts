import { expect, test } from 'bun:test'
import { booleanQuery, searchWords, wordMark } from './search-words.ts'

const mark = wordMark('org_01')

test('marks each word with its organization', () => {
  expect(mark).toMatch(/^[a-z]{6}$/)
  expect(wordMark('org_02')).not.toBe(mark)
  expect(searchWords(mark, 'Hi, it is 5')).toEqual([`${mark}0hi`, `${mark}0it`, `${mark}0is`, `${mark}05`])
})

test('folds case and accents', () => {
  expect(searchWords(mark, 'ÉCLAIR Straße')).toEqual(searchWords(mark, 'éclair straße'))
  expect(searchWords(mark, 'Éclair')).toEqual(searchWords(mark, 'eclair'))
})

test('gives words the server keeps: ASCII, three to 84 letters', () => {
  const words = searchWords(mark, `a ö ${'x'.repeat(500)} ${'ж'.repeat(200)} 東京都 สวัสดี`)
  for (const word of words) expect(word).toMatch(/^[a-z0-9]{3,84}$/)
})

test('divides scripts without spaces into pairs', () => {
  const words = searchWords(mark, '東京都')
  expect(words.length).toBe(3)
  expect(booleanQuery(mark, '東京')).toBe(`+${words[0]}`)
  expect(booleanQuery(mark, '京都')).toBe(`+${words[1]}`)
  expect(booleanQuery(mark, '東京都')).toBe(`+"${words[0]} ${words[1]}"`)
})

test('reads words, phrases and exclusions', () => {
  expect(booleanQuery(mark, 'red "big car" -blue -"old house"')).toBe(
    `+${mark}0red +"${mark}0big ${mark}0car" -${mark}0blue -"${mark}0old ${mark}0house"`,
  )
})

test('asks for nothing with exclusions or signs alone', () => {
  for (const query of ['-red', '"', '+', '-"a b"', '***', '""']) expect(booleanQuery(mark, query)).toBeNull()
})

test('lets no operator of the server through', () => {
  expect(booleanQuery(mark, 'a* (b) ~c >d <e @3 "f')).not.toMatch(/[()~<>@*]/)
})
