import { expect, test } from 'bun:test'
import { pauseReason } from './pause.ts'

const limits = { bouncePercent: 5, complaintPercent: 0.1, minSent: 100, windowMs: 24 * 3_600_000 }

test.each([
  ['nothing was sent', { sent: 0, bounced: 0, complained: 0 }],
  ['too little was sent to tell', { sent: 99, bounced: 99, complained: 99 }],
  ['just as much bounces as may', { sent: 100, bounced: 5, complained: 0 }],
  ['just as many complain as may', { sent: 2000, bounced: 0, complained: 2 }],
])('a brand goes on when %s', (_, counts) => {
  expect(pauseReason(counts, limits)).toBeUndefined()
})

test('a brand is paused above a rate, with the rate as the reason', () => {
  expect(pauseReason({ sent: 100, bounced: 6, complained: 0 }, limits)).toBe(
    '6 of 100 emails of at most 24 hours bounced, 6.00 %; at most 5 % may.',
  )
  expect(pauseReason({ sent: 2000, bounced: 0, complained: 3 }, limits)).toBe(
    '3 of 2000 emails of at most 24 hours were complained of, 0.15 %; at most 0.1 % may.',
  )
})

test('a rate of 0 never pauses', () => {
  const counts = { sent: 100, bounced: 100, complained: 100 }
  expect(pauseReason(counts, { ...limits, bouncePercent: 0, complaintPercent: 0 })).toBeUndefined()
})
