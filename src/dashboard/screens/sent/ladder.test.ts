import { expect, test } from 'bun:test'
import { type Ladder, type LadderEvent, ladders, type RungState, toEvidence } from './ladder.ts'

const start = Date.UTC(2026, 4, 12, 10)
const minutes = (count: number) => new Date(start + count * 60_000).toISOString()

/** An event so many minutes after the email was accepted. */
function event(type: string, after: number, more: Partial<LadderEvent> = {}): LadderEvent {
  return {
    id: `evt_${type}${after}`,
    type,
    recipient: 'ann@x.example',
    occurred_at: minutes(after),
    source: 'smtp',
    smtp_code: null,
    enhanced_code: null,
    detail: null,
    data: {},
    ...more,
  }
}

const queued = event('queued', 0, { recipient: null, source: 'api' })
const sent = event('sent', 1, { smtp_code: 250, enhanced_code: '2.0.0', detail: 'Ok: queued as A1' })
const delivered = event('delivered', 2, { source: 'dsn', smtp_code: 250, detail: 'OK' })
const replied = event('replied', 90, { recipient: null, source: 'inbound', data: { message_id: 'msg_1' } })
const bounced = event('bounced', 3, { source: 'dsn', smtp_code: 550, enhanced_code: '5.1.1', detail: 'No such user' })

interface LadderCase {
  readonly status: string
  readonly events: readonly LadderEvent[]
  /** In hours, after the email was accepted. */
  readonly age?: number
  readonly rungs: readonly RungState[]
  readonly off?: string
}

const cases: Readonly<Record<string, LadderCase>> = {
  'just accepted': { status: 'queued', events: [queued], rungs: ['proven', 'waiting', 'open', 'open'] },
  scheduled: {
    status: 'scheduled',
    events: [{ ...queued, type: 'scheduled' }],
    rungs: ['proven', 'waiting', 'open', 'open'],
  },
  'delayed before the relay took it': {
    status: 'delayed',
    events: [queued, event('delayed', 1, { smtp_code: 451, detail: 'Try later' })],
    rungs: ['proven', 'delayed', 'open', 'open'],
  },
  'sent is not delivered': { status: 'sent', events: [queued, sent], rungs: ['proven', 'proven', 'waiting', 'open'] },
  'nobody told us, a minute before it counts': {
    status: 'sent',
    events: [queued, sent],
    age: 24,
    rungs: ['proven', 'proven', 'waiting', 'open'],
  },
  'nobody told us': {
    status: 'sent',
    events: [queued, sent],
    age: 25,
    rungs: ['proven', 'proven', 'unconfirmed', 'open'],
  },
  'delayed behind the relay': {
    status: 'delayed',
    events: [queued, sent, event('delayed', 5, { source: 'dsn', detail: 'Host away' })],
    age: 30,
    rungs: ['proven', 'proven', 'delayed', 'open'],
  },
  delivered: { status: 'delivered', events: [queued, sent, delivered], rungs: ['proven', 'proven', 'proven', 'open'] },
  'a report that came before the reply was recorded': {
    status: 'delivered',
    events: [queued, delivered],
    rungs: ['proven', 'implied', 'proven', 'open'],
  },
  answered: {
    status: 'delivered',
    events: [queued, sent, delivered, replied],
    rungs: ['proven', 'proven', 'proven', 'proven'],
  },
  'answered, and no report': {
    status: 'sent',
    events: [queued, sent, replied],
    age: 100,
    rungs: ['proven', 'proven', 'implied', 'proven'],
  },
  bounced: {
    status: 'bounced',
    events: [queued, sent, bounced],
    rungs: ['proven', 'proven', 'missed', 'missed'],
    off: 'bounced',
  },
  'bounced after it was delivered': {
    status: 'bounced',
    events: [queued, sent, delivered, bounced],
    rungs: ['proven', 'proven', 'proven', 'missed'],
    off: 'bounced',
  },
  'refused by the relay for this recipient': {
    status: 'bounced',
    events: [queued, event('bounced', 1, { smtp_code: 550 })],
    rungs: ['proven', 'missed', 'missed', 'missed'],
    off: 'bounced',
  },
  complained: {
    status: 'complained',
    events: [queued, sent, delivered, event('complained', 60, { source: 'dsn', detail: 'Complaint (abuse)' })],
    rungs: ['proven', 'proven', 'proven', 'missed'],
    off: 'complained',
  },
  suppressed: {
    status: 'suppressed',
    events: [queued, event('suppressed', 0, { source: 'api', detail: 'on the suppression list' })],
    rungs: ['proven', 'missed', 'missed', 'missed'],
    off: 'suppressed',
  },
  rejected: {
    status: 'rejected',
    events: [queued, event('rejected', 1, { smtp_code: 554, detail: 'Content refused' })],
    rungs: ['proven', 'missed', 'missed', 'missed'],
    off: 'rejected',
  },
  failed: {
    status: 'failed',
    events: [queued, event('delayed', 1), event('failed', 7200, { source: 'api', detail: 'It expired.' })],
    rungs: ['proven', 'missed', 'missed', 'missed'],
    off: 'failed',
  },
  canceled: {
    status: 'canceled',
    events: [{ ...queued, type: 'scheduled' }, event('canceled', 9, { recipient: null, source: 'api' })],
    rungs: ['proven', 'missed', 'missed', 'missed'],
    off: 'canceled',
  },
}

function ladderFor({ status, events, age = 1 }: LadderCase): Ladder {
  const recipients = [{ email: 'Ann@x.example', status, updated_at: minutes(1) }]
  const [ladder] = ladders({ recipients, events }, { now: start + age * 3_600_000, unconfirmedAfterHours: 24 })
  if (!ladder) throw new Error('one recipient, no ladder')
  return ladder
}

test.each(Object.keys(cases))('%s', name => {
  const ladderCase = cases[name]
  if (!ladderCase) throw new Error(name)
  const ladder = ladderFor(ladderCase)
  expect(ladder.rungs.map(rung => rung.state)).toEqual([...ladderCase.rungs])
  expect(ladder.off?.status).toBe(ladderCase.off as never)
})

test('an email that a program submitted by SMTP says so, and not that the relay replied', () => {
  const submitted = { ...queued, source: 'smtp' } as const
  expect(toEvidence(submitted).source).toBe('submission')
  expect(toEvidence({ ...submitted, type: 'sent' }).source).toBe('smtp')
})

test('no rung is proven without evidence, and each has its time, source and literal line', () => {
  for (const ladderCase of Object.values(cases)) {
    const { rungs, off } = ladderFor(ladderCase)
    for (const { state, evidence } of rungs) expect(evidence.length > 0).toBe(state === 'proven' || state === 'delayed')
    if (off) expect(off.evidence.length).toBeGreaterThan(0)
  }
  const { rungs, off } = ladderFor(cases['bounced'] as LadderCase)
  expect(rungs[1]?.evidence).toEqual([
    { at: minutes(1), source: 'smtp', line: '250 2.0.0 Ok: queued as A1', isAmbiguous: false },
  ])
  expect(off?.evidence).toEqual([{ at: minutes(3), source: 'dsn', line: '550 5.1.1 No such user', isAmbiguous: false }])
})

test('each recipient climbs their own ladder, and a reply is on that of its author', () => {
  const recipients = ['ann@x.example', 'bob@x.example'].map(email => ({
    email,
    status: email.startsWith('ann') ? 'delivered' : 'bounced',
    updated_at: minutes(2),
  }))
  const events = [queued, sent, delivered, { ...bounced, recipient: 'BOB@x.example' }, replied]
  const options = { now: start + 3_600_000, unconfirmedAfterHours: 24 }
  const states = (authors?: ReadonlyMap<string, string>) =>
    ladders({ recipients, events }, authors ? { ...options, authors } : options).map(({ rungs }) =>
      rungs.map(rung => rung.state),
    )
  expect(states()).toEqual([
    ['proven', 'proven', 'proven', 'open'],
    ['proven', 'missed', 'missed', 'missed'],
  ])
  expect(states(new Map([['msg_1', 'Ann@x.example']]))[0]).toEqual(['proven', 'proven', 'proven', 'proven'])
  expect(states(new Map([['msg_1', 'carl@x.example']]))[0]).toEqual(['proven', 'proven', 'proven', 'open'])
})

test('what may have been sent twice says so', () => {
  const ambiguous = { ...sent, data: { ambiguous: true } }
  expect(ladderFor({ status: 'sent', events: [queued, ambiguous], rungs: [] }).rungs[1]?.evidence[0]?.isAmbiguous).toBe(
    true,
  )
})

test('the relay’s own reply proves the hand-over, before a report that it wrote', () => {
  const relayed = event('sent', 0, { source: 'dsn', detail: 'relayed' })
  const { rungs } = ladderFor({ status: 'sent', events: [queued, relayed, sent], rungs: [] })
  expect(rungs[1]?.evidence.map(({ source }) => source)).toEqual(['smtp', 'dsn'])
})

test.each([
  [{ smtp_code: 250, enhanced_code: '2.0.0', detail: 'Ok' }, '250 2.0.0 Ok'],
  [{ smtp_code: 550, enhanced_code: '5.1.1', detail: '550 5.1.1 No such user' }, '550 5.1.1 No such user'],
  [{ smtp_code: null, enhanced_code: '2.0.0', detail: '250 2.0.0 Delivered' }, '250 2.0.0 Delivered'],
  [{ smtp_code: 550, enhanced_code: '5.7.1', detail: '550 Refused' }, '5.7.1 550 Refused'],
  [{ smtp_code: 421, enhanced_code: null, detail: null }, '421'],
  [{ smtp_code: null, enhanced_code: null, detail: null }, null],
])('the literal line of %j', (reply, line) => {
  expect(toEvidence(event('sent', 1, reply)).line).toBe(line)
})
