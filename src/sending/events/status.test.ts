import { expect, test } from 'bun:test'
import { type Instant, plusMs } from '../../base/clock.ts'
import { type EmailStatus, emailStatuses } from '../../base/database/schema.ts'
import { emailStatus, type KnownStatus, takesEffect } from './status.ts'

const noon = '2026-01-31 12:00:00.400000' as Instant
const ours = (status: EmailStatus, seconds = 0): KnownStatus => ({
  status,
  at: plusMs(noon, seconds * 1000),
  isReported: false,
})
const reported = (status: EmailStatus, seconds = 0): KnownStatus => ({ ...ours(status, seconds), isReported: true })

// One row a current status; in it, for each event in the order of emailStatuses: + it takes effect, . what is known stays.
// The same status told again takes effect too: it is later evidence.
const table: readonly (readonly [EmailStatus, string])[] = [
  ['scheduled', '.+++++++++++'],
  ['queued', '..++++++++++'],
  ['sending', '.+.++++++++.'],
  ['sent', '....++++.++.'],
  ['delayed', '..++.+++++++'],
  ['delivered', '......++....'],
  ['bounced', '.......+....'],
  ['complained', '............'],
  ['suppressed', '............'],
  ['rejected', '............'],
  ['failed', '.....+++....'],
  ['canceled', '............'],
]

for (const [current, row] of table)
  test(`what follows ${current}`, () => {
    for (const tell of [ours, reported]) {
      const effects = emailStatuses.map(event =>
        event === current || !takesEffect(tell(event), ours(current)) ? '.' : '+',
      )
      expect(effects.join('')).toBe(row)
      expect(takesEffect(tell(current), ours(current))).toBe(true)
    }
  })

/** What is known after these, one after the other. */
function after(told: readonly KnownStatus[]): KnownStatus {
  return told.reduce((current, event) => (takesEffect(event, current) ? event : current))
}

function permutations<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= 1) return [items]
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map(rest => [item, ...rest]))
}

const sending = ours('sending', -1)
const evidence: readonly (readonly [name: string, told: readonly KnownStatus[], status: EmailStatus])[] = [
  ['our 250, then a delay at the relay', [ours('sent', 0), reported('delayed', 60)], 'delayed'],
  ['a delay of an earlier try, then our 250', [reported('delayed', -60), ours('sent', 0)], 'sent'],
  ['delayed, then relayed', [ours('sent', 0), reported('delayed', 60), reported('sent', 90)], 'sent'],
  ['relayed, then delayed further on', [ours('sent', 0), reported('sent', 60), reported('delayed', 90)], 'delayed'],
  ['two delays', [ours('sent', 0), reported('delayed', 60), reported('delayed', 90)], 'delayed'],
  ['delayed, then delivered', [ours('sent', 0), reported('delayed', 60), reported('delivered', 90)], 'delivered'],
  ['delivered, then delayed', [ours('sent', 0), reported('delivered', 60), reported('delayed', 90)], 'delivered'],
  ['delivered by the clock before our 250', [ours('sent', 0), reported('delivered', -60)], 'delivered'],
  ['bounced before a delay', [reported('bounced', 30), reported('delayed', 60), reported('sent', 90)], 'bounced'],
]

for (const [name, told, status] of evidence)
  test(`ends in the same in whatever order it is told: ${name}`, () => {
    const latest = told.filter(knownStatus => knownStatus.status === status).at(-1)
    for (const order of permutations(told))
      expect([order, after([sending, ...order])]).toEqual([order, latest as KnownStatus])
  })

test('a report in whole seconds counts as of the end of its second', () => {
  const second = { ...reported('delayed'), at: '2026-01-31 12:00:00.000000' as Instant }
  for (const order of permutations([ours('sent'), second])) expect(after([sending, ...order])).toBe(second)
  expect(after([second, ours('sent', 1)]).status).toBe('sent')
})

test('our own observations count in their order, wherever the clock was set to meanwhile', () => {
  expect(after([ours('delayed'), ours('sent', -86_400)]).status).toBe('sent')
  expect(after([ours('delayed'), ours('delayed', -86_400)]).at).toBe(plusMs(noon, -86_400_000))
})

test('the email’s status is the first in the order of precedence', () => {
  const order: readonly EmailStatus[] = [
    'failed',
    'rejected',
    'bounced',
    'complained',
    'delayed',
    'sending',
    'queued',
    'scheduled',
    'sent',
    'delivered',
    'suppressed',
    'canceled',
  ]
  for (let i = 0; i < order.length; i++) expect(emailStatus(order.slice(i).reverse())).toBe(order[i] as EmailStatus)
  expect(() => emailStatus([])).toThrow()
})
