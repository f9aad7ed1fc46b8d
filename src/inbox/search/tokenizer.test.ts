import { describe, expect, test } from 'bun:test'
import { paced } from '../../base/concurrency/paced.ts'
import { leadingCharacter, tokenize, toSearchText, toSearchTextInSteps } from './tokenizer.ts'

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

test('gives the same words in a text of ASCII alone as beside other letters', () => {
  const characters = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code))
  const around = characters.map(character => `Ab${character}9c`).join(' ')
  const lengths = [82, 83, 84, 85, 300].map(length => 'Q'.repeat(length)).join(',')
  for (const text of [around, lengths, characters.join(''), characters.join(' '), '', ' '])
    expect(tokenize(text)).toEqual(tokenize(`${text} \u4eac`).slice(0, -1))
})

test('stores the words of ASCII as those of any text, as far as they fit', () => {
  const lengths = [1, 82, 83, 84, 85, 300]
  const texts = lengths.flatMap(a => lengths.map(b => `.${'Q'.repeat(a)}-${'z'.repeat(b)} 7`))
  for (const text of ['', ' ', '.', 'a', '0 0', '\0x\x7f', ...texts])
    expect(toSearchText(text)).toBe(` ${tokenize(text).join(' ')} `)
  const mebibyte = 1024 * 1024
  for (const text of [
    'ab '.repeat(mebibyte / 4 + 9),
    `${'ab '.repeat(mebibyte / 4 - 1)}a`,
    'a '.repeat(mebibyte / 2),
  ]) {
    const words = tokenize(text)
    const fitting = words.slice(0, Math.floor(mebibyte / ((words[0]?.length ?? 0) + 1)))
    expect(toSearchText(text)).toBe(` ${fitting.join(' ')} `)
  }
  expect(toSearchText(`a${' '.repeat(mebibyte)}b`)).toBe(' 0a ')
})

test('splits scripts without spaces into pairs, each of which shows its first character', () => {
  const words = tokenize('東京都')
  expect(words).toHaveLength(3)
  expect(words.map(leadingCharacter)).toEqual(['東', '京', '都'].flatMap(value => tokenize(value)))
  expect(['tokyo', 'жук', '5'].flatMap(tokenize).map(leadingCharacter)).toEqual([undefined, undefined, undefined])
})

describe('the words of a long text, made in steps, are those made at once:', () => {
  for (const [what, line] of [
    ['words with accents', 'Größe naïve ΟΔΥΣΣΕΥΣ, ΑΣ.Β; i\u0307 e\u0301t\u00e9 ℡12 ½\n'],
    ['a script without spaces', '我们的邮件系统很好用，谢谢大家。东京都に行く'],
    ['Thai', 'สวัสดีครับ ยินดีต้อนรับ\r\n'],
  ] as const)
    test(what, async () => {
      const text = line.repeat(3000)
      const words = toSearchText(text)
      expect(words.length).toBeLessThan(1024 * 1024)
      expect(await paced(toSearchTextInSteps(text))).toBe(words)
      for (const length of [0, 1, 2047, 2048, 2049, 8192, 8193])
        expect(await paced(toSearchTextInSteps(text.slice(0, length)))).toBe(toSearchText(text.slice(0, length)))
    })
})

test('other work has its turn while the words of a long text are made', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  await paced(toSearchTextInSteps('我们的邮件系统很好用，'.repeat(4000)))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(3)
})

test('a text that cannot be divided, or has too many words, has none from steps', async () => {
  expect(await paced(toSearchTextInSteps('我'.repeat(9000)))).toBeNull()
  expect(await paced(toSearchTextInSteps('我们，'.repeat(60_000)))).toBeNull()
})
