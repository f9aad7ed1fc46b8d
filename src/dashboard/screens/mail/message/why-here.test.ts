import { expect, test } from 'bun:test'
import { type FiledMessage, whyHere } from './why-here.ts'

const none = { result: 'none', domain: null, aligned: null, detail: null }
const filed = (changes: Partial<FiledMessage>): FiledMessage => ({
  folder: 'inbox',
  folder_reason: 'accepted',
  scan: 'clean',
  spam: null,
  auth: { spf: none, dkim: none, dmarc: none },
  ...changes,
})

/** As the inbound pipeline and the operator's release write them. */
const reasons = [
  ['accepted', 'inbox'],
  ['auto_reply', 'inbox'],
  ['report', 'inbox'],
  ['spf_fail', 'spam'],
  ['dmarc_fail', 'spam'],
  ['from_unchecked', 'spam'],
  ['sender_blocked', 'spam'],
  ['spam_filter 9.2 of 6 (BAYES_SPAM)', 'spam'],
  ['infected', 'quarantine'],
  ['unscanned', 'quarantine'],
  ['released', 'inbox'],
] as const

test('each reason is a sentence of its own, and names no move where the message still is where it was filed', () => {
  const sentences = reasons.map(([folder_reason, folder]) => whyHere(filed({ folder_reason, folder })))
  expect(sentences.map(({ moved }) => moved)).toEqual(reasons.map(() => null))
  expect(new Set(sentences.map(({ reason }) => reason)).size).toBe(reasons.length)
  expect(sentences.filter(({ reason }) => reason.includes('“'))).toEqual([])
})

test('a message that somebody moved says where it was filed', () => {
  expect(whyHere(filed({ folder: 'trash' })).moved).toBe('It was filed in inbox first, and moved here later.')
  expect(whyHere(filed({ folder: 'inbox', folder_reason: 'dmarc_fail' })).moved).toContain('spam')
})

test('each result of each check is a sentence, and a reason or result of a later version is quoted', () => {
  const results = ['pass', 'fail', 'softfail', 'neutral', 'none', 'policy', 'temperror', 'permerror']
  for (const result of results) {
    const check = { ...none, result, domain: 'a.example' }
    const { checks } = whyHere(filed({ auth: { spf: check, dkim: check, dmarc: check } }))
    for (const { name, text } of checks) expect([name, result, text.endsWith('.')]).toEqual([name, result, true])
  }
  for (const scan of ['clean', 'infected', 'error', 'skipped'])
    expect(whyHere(filed({ scan })).checks.at(-1)?.text).not.toContain('“')
  expect(whyHere(filed({ folder_reason: 'greylisted' }))).toMatchObject({
    reason: 'The server gave the reason “greylisted”.',
    moved: null,
  })
})

test('a pass for another domain than the one in From is no good sign', () => {
  const other = { ...none, result: 'pass', domain: 'bulk.example', aligned: false }
  const tones = whyHere(filed({ auth: { spf: other, dkim: other, dmarc: none } })).checks.map(({ tone }) => tone)
  expect(tones).toEqual(['off', 'off', 'off', 'good'])
})

test('the spam filter says how many points it gave, for what, and how many make spam', () => {
  const symbols = [
    { name: 'BAYES_SPAM', score: 5.1 },
    { name: 'MIME_GOOD', score: -0.1 },
    { name: 'ARC_NA', score: 0 },
  ]
  const spam = { score: 5, required: 6, symbols }
  const sentence = {
    name: 'Spam filter',
    text: 'It gave 5 points, of 6 that make spam: BAYES_SPAM 5.1, MIME_GOOD -0.1.',
  }
  expect(whyHere(filed({ spam })).checks).toContainEqual({ ...sentence, tone: 'good' })
  expect(whyHere(filed({ spam: { ...spam, score: 6 } })).checks.find(({ name }) => name === 'Spam filter')?.tone).toBe(
    'bad',
  )
  expect(whyHere(filed({})).checks.map(({ name }) => name)).not.toContain('Spam filter')
})
