import { expect, test } from 'bun:test'
import { keyPositions } from './postings.ts'
import { leadingCharacter, toSearchText } from './tokenizer.ts'

const options = { maxListed: 3, characterKey: (character: string) => `${character}*` }

/** The same, with a string for each token. */
function naivePositions(text: string): Map<string, readonly number[]> {
  const positions = new Map<string, Set<number>>()
  const add = (key: string, position: number) => positions.set(key, (positions.get(key) ?? new Set()).add(position))
  const messages = text.split('\n').map(message => message.split(' ').filter(token => token !== ''))
  for (const [position, tokens] of messages.entries())
    for (const token of tokens) {
      add(token, position)
      const character = leadingCharacter(token)
      if (character) add(options.characterKey(character), position)
    }
  const common = new Set(positions.keys().filter(key => (positions.get(key)?.size ?? 0) > options.maxListed))
  for (const [position, tokens] of messages.entries())
    for (const [i, token] of tokens.entries()) {
      const next = tokens[i + 1]
      if (next !== undefined && common.has(token) && common.has(next)) add(`${token} ${next}`, position)
    }
  return new Map(Array.from(positions, ([key, set]) => [key, [...set]]))
}

const positionsOf = (text: string) =>
  new Map(Array.from(keyPositions(text, options), ({ key, positions }) => [key, [...positions]]))

const random = (below: number) => Math.floor(Math.random() * below)
const words = (vocabulary: number, count: number) =>
  Array.from({ length: count }, () => `0${random(vocabulary).toString(36)}`).join(' ')

test.each([
  ['nothing', ''],
  ['a message without tokens', '  \n 0a \n  '],
  ['the same token', ' 0a 0a 0a '],
  ['a token at the very end', ' 0a \n 0b'],
  ['scripts without spaces', ['東京都に行く', '東京', '京都', '大阪の東京都', '東京都'].map(toSearchText).join('\n')],
  // Two with the same hash: "Aa" and "BB" have the same sum of units with weight 31.
  ['tokens with the same hash', ' 0Aa 0BB 0AaBB 0BBAa 0AaAa 0BBBB \n 0BB \n 0AaBB '],
  ['few words in many messages', Array.from({ length: 300 }, () => ` ${words(20, 30)} `).join('\n')],
  // The table grows several times.
  ['many words', Array.from({ length: 100 }, () => ` ${words(1_000_000, 1500)} `).join('\n')],
])('gives the positions of tokens, pairs and characters: %s', (_, text) => {
  expect(positionsOf(text)).toEqual(naivePositions(text) as Map<string, number[]>)
})
