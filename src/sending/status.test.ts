import { expect, test } from 'bun:test'
import { type EmailStatus, emailStatuses } from '../base/schema.ts'
import { emailStatus, nextStatus } from './status.ts'

// One row a current status; in it, for each event in the order of emailStatuses: + it takes effect, . the status stays.
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
    const effects = emailStatuses.map(event => (nextStatus(current, event) === current ? '.' : '+')).join('')
    expect(effects).toBe(row)
    for (const event of emailStatuses) expect([current, event]).toContain(nextStatus(current, event))
  })

test('takes the first of the order of precedence', () => {
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
