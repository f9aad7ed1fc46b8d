import { expect, test } from 'bun:test'
import { maxSymbols } from '../port.ts'
import { readActions, readCheckReply } from './findings.ts'

const symbols = {
  MIME_GOOD: { name: 'MIME_GOOD', score: -0.1, options: ['text/plain'] },
  BAYES_SPAM: { name: 'BAYES_SPAM', score: 5.099999 },
  ARC_NA: { name: 'ARC_NA', score: 0 },
}
const reply = (fields: object) =>
  JSON.stringify({ is_skipped: false, score: 7.2999, required_score: 15, action: 'add header', symbols, ...fields })

test('each action that asks to treat a message as spam does, and no other', () => {
  const isSpam = (action: string) => readCheckReply(reply({ action }))?.isSpam
  for (const action of ['add header', 'rewrite subject', 'reject', 'quarantine', 'discard'])
    expect([action, isSpam(action)]).toEqual([action, true])
  for (const action of ['no action', 'greylist', 'soft reject', 'something new'])
    expect([action, isSpam(action)]).toEqual([action, false])
})

test('scores have two decimals, and the symbols that weigh most come first', () => {
  expect(readCheckReply(reply({}))).toEqual({
    isSpam: true,
    score: 7.3,
    required: null,
    severest: 15,
    symbols: [
      { name: 'BAYES_SPAM', score: 5.1 },
      { name: 'MIME_GOOD', score: -0.1 },
      { name: 'ARC_NA', score: 0 },
    ],
  })
})

test('the score required for spam is that of the mildest action for it', () => {
  const thresholds = { reject: 15, 'add header': 6, 'rewrite subject': null, greylist: 4 }
  expect(readCheckReply(reply({ thresholds }))?.required).toBe(6)
  const actions = Object.entries(thresholds).map(([action, value]) => ({ action, value }))
  expect(readActions(JSON.stringify(actions))).toBe(6)
  expect(readActions('{"error":"Unauthorized"}')).toBeNull()
})

test('GTUBE, for which it skips its rules, is spam; a message that it was told not to check is not checked', () => {
  expect(readCheckReply(reply({ is_skipped: true, action: 'reject', score: 15 }))?.isSpam).toBe(true)
  expect(readCheckReply(reply({ is_skipped: true, action: 'no action', score: 0 }))).toBeUndefined()
})

test('what is not a reply to a check says nothing', () => {
  for (const text of ['', '[]', 'null', '{"error":"internal"}', reply({ score: 'NaN' }), reply({ action: 4 }), '{"a":'])
    expect(readCheckReply(text)).toBeUndefined()
  expect(readCheckReply(reply({ symbols: 'none' }))?.symbols).toEqual([])
})

test('as many symbols as there may be, with names as rspamd has them', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`SYMBOL_${i}`, { score: i }]))
  const read = readCheckReply(reply({ symbols: { ...many, 'A\r\nB': { score: 900 }, LONG: { score: '9' } } }))
  expect(read?.symbols).toHaveLength(maxSymbols)
  expect(read?.symbols[0]).toEqual({ name: 'SYMBOL_299', score: 299 })
})
