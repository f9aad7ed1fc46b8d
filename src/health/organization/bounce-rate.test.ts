import { expect, test } from 'bun:test'
import { bounceLevel } from './bounce-rate.ts'

const quiet = { sent: 1000, bounced: 10 }

test.each([
  ['nothing sent', { sent: 0, bounced: 0 }, quiet, null],
  ['few bounces, whatever their share', { sent: 4, bounced: 4 }, quiet, null],
  ['below 2 %', { sent: 1000, bounced: 19 }, { sent: 1000, bounced: 0 }, null],
  ['2 % and twice the usual', { sent: 1000, bounced: 20 }, quiet, 'warning'],
  ['less than twice the usual', { sent: 1000, bounced: 40 }, { sent: 1000, bounced: 21 }, null],
  ['5 % and twice the usual', { sent: 100, bounced: 5 }, { sent: 1000, bounced: 25 }, 'critical'],
  ['the first day of sending', { sent: 100, bounced: 6 }, { sent: 0, bounced: 0 }, 'critical'],
] as const)('%s', (_, now, usual, level) => {
  expect(bounceLevel(now, usual)).toBe(level)
})
