import { describe, expect, test } from 'bun:test'
import { type Instant, plusMs } from '../../base/clock.ts'
import type { ProviderReply, SubmissionOutcome, SubmissionPhase } from '../../ports/provider/port.ts'
import type { ClaimedRecipient } from './outbox.ts'
import { endBeforeSubmission, nextAfterOutcome, outcomeToEvent } from './outcome.ts'

const now = '2026-01-01 00:00:00.000000' as Instant
const policy = { firstMs: 60_000, random: () => 0.5 }
const claimed: ClaimedRecipient = {
  id: 'out_1',
  lease: 'l',
  organizationId: 'org_1',
  destination: 'x.test',
  emailId: 'eml_1',
  brandId: 'brd_1',
  domainId: 'dom_1',
  recipient: 'a@x.test',
  position: 0,
  recipientStatus: 'queued',
  statusDetail: null,
  statusSince: now,
  fromAddress: 'hello@shop.test',
  createdAt: now,
  scheduledAt: null,
  expiresAt: plusMs(now, 3_600_000),
  attempts: 0,
  lastReply: null,
  heldAt: null,
  blobId: 'blb_1',
  size: 100,
  isReady: true,
  unsubscribe: false,
  isReclaimed: false,
  isAmbiguous: false,
  acceptance: null,
}
const reply = (phase: SubmissionPhase, code: number | null, enhancedCode: string | null = null): ProviderReply => ({
  phase,
  code,
  enhancedCode,
  text: 'said so',
})
const bounce = (type: string, scope: string) => ({ type, scope, suppressed: false })
const permanent = (scope: string) => bounce('permanent', scope)

const events: readonly [string, SubmissionOutcome, object | null][] = [
  [
    'accepted is sent',
    { kind: 'accepted', reply: reply('final-dot', 250, '2.0.0'), providerMessageId: 'ABC' },
    { type: 'sent', smtpCode: 250, enhancedCode: '2.0.0', detail: 'said so', providerMessageId: 'ABC' },
  ],
  [
    'a recipient refused for good is bounced',
    { kind: 'failed', reply: reply('rcpt', 550, '5.1.1') },
    { type: 'bounced', smtpCode: 550, enhancedCode: '5.1.1', bounce: permanent('recipient') },
  ],
  [
    'a mailbox that is full is the recipient’s, and may be emptied',
    { kind: 'failed', reply: reply('rcpt', 552, '5.2.2') },
    { type: 'bounced', bounce: bounce('transient', 'recipient') },
  ],
  [
    'a refusal without a code of its own is taken for the recipient’s, for whatever reason',
    { kind: 'failed', reply: reply('rcpt', 550) },
    { type: 'bounced', bounce: bounce('undetermined', 'recipient') },
  ],
  [
    'a refusal for policy at RCPT is ours',
    { kind: 'failed', reply: reply('rcpt', 550, '5.7.1') },
    { type: 'bounced', bounce: permanent('infrastructure') },
  ],
  [
    'a refusal of our address at RCPT is ours',
    { kind: 'failed', reply: reply('rcpt', 550, '5.1.8') },
    { type: 'bounced', bounce: permanent('infrastructure') },
  ],
  [
    '5.1.10 (the domain takes no mail) is the recipient’s',
    { kind: 'failed', reply: reply('rcpt', 556, '5.1.10') },
    { type: 'bounced', bounce: permanent('recipient') },
  ],
  ['content refused is rejected', { kind: 'failed', reply: reply('final-dot', 554, '5.6.0') }, { type: 'rejected' }],
  ['content refused before it came is rejected', { kind: 'failed', reply: reply('data', 554) }, { type: 'rejected' }],
  ['too large is rejected', { kind: 'failed', reply: reply('mail', 552, '5.3.4') }, { type: 'rejected' }],
  [
    'deferred is delayed',
    { kind: 'deferred', reply: reply('rcpt', 451, '4.7.1'), ambiguous: false },
    { type: 'delayed', smtpCode: 451, extra: { phase: 'rcpt', attempt: 1 } },
  ],
  [
    'deferred after the final dot says that it may have been taken',
    { kind: 'deferred', reply: reply('final-dot', null), ambiguous: true },
    { type: 'delayed', smtpCode: null, extra: { phase: 'final-dot', attempt: 1, ambiguous: true } },
  ],
  ['a route error is not recorded', { kind: 'route-error', reply: reply('mail', 553) }, null],
]

test.each(events)('%s', (_, outcome, event) => {
  const told = outcomeToEvent(claimed, outcome, now)
  if (event === null) expect(told).toBeNull()
  else
    expect(told).toMatchObject({ emailId: 'eml_1', recipient: 'a@x.test', source: 'smtp', occurredAt: now, ...event })
})

test('what a dead process may have submitted is recorded as ambiguous', () => {
  const accepted = { kind: 'accepted', reply: reply('final-dot', 250), providerMessageId: null } as const
  const extra = { phase: 'final-dot', attempt: 1 }
  expect(outcomeToEvent(claimed, accepted, now)?.extra).toEqual(extra)
  expect(outcomeToEvent({ ...claimed, isReclaimed: true }, accepted, now)?.extra).toEqual({ ...extra, ambiguous: true })
})

test('a delay is recorded once, but each time when it is ambiguous', () => {
  const again = { ...claimed, attempts: 3 }
  const deferred = { kind: 'deferred', reply: reply('final-dot', 451) } as const
  expect(outcomeToEvent(again, { ...deferred, ambiguous: false }, now)).toBeNull()
  expect(outcomeToEvent(again, { ...deferred, ambiguous: true }, now)?.extra).toMatchObject({
    attempt: 4,
    ambiguous: true,
  })
})

test('deferred counts an attempt and waits; a route error counts none', () => {
  const deferred = nextAfterOutcome(
    claimed,
    { kind: 'deferred', reply: reply('rcpt', 451, '4.7.1'), ambiguous: false },
    now,
    policy,
  )
  expect(deferred).toMatchObject({
    kind: 'retry',
    attempts: 1,
    dueAt: plusMs(now, 60_000),
    lastReply: '451 4.7.1 said so',
  })
  const trouble = nextAfterOutcome(claimed, { kind: 'route-error', reply: reply('auth', 535) }, now, policy)
  expect(trouble).toEqual({
    kind: 'retry',
    event: null,
    attempts: 0,
    dueAt: plusMs(now, 1000),
    lastReply: '535 said so',
    isAmbiguous: false,
  })
})

test('an expired email fails with 4.4.7 and the last reply', () => {
  const late = { ...claimed, expiresAt: now, attempts: 4, lastReply: '451 4.7.1 Greylisted' }
  expect(endBeforeSubmission(late, false, now)).toMatchObject({
    kind: 'end',
    event: { type: 'failed', enhancedCode: '4.4.7', detail: expect.stringContaining('451 4.7.1 Greylisted') },
  })
})

test('a recipient that a report has ended meanwhile gets no further event', () => {
  for (const recipientStatus of ['bounced', 'delivered', 'canceled', 'suppressed'] as const)
    expect(endBeforeSubmission({ ...claimed, recipientStatus }, false, now)).toEqual({ kind: 'end', event: null })
})

const scheduled = { ...claimed, scheduledAt: now, recipientStatus: 'scheduled' } as const

test('suppression is checked again when a scheduled email is due, and only then', () => {
  expect(endBeforeSubmission(scheduled, false, now)).toBeNull()
  expect(endBeforeSubmission(scheduled, true, now)).toMatchObject({ kind: 'end', event: { type: 'suppressed' } })
  expect(endBeforeSubmission({ ...scheduled, attempts: 1 }, true, now)).toBeNull()
  expect(endBeforeSubmission(claimed, true, now)).toBeNull()
})

describe('while the domain is not ready', () => {
  const wait = (recipient: ClaimedRecipient, at: Instant) => {
    const step = endBeforeSubmission(recipient, false, at)
    if (step?.kind !== 'retry') throw new Error(`${step?.kind}: ${step?.event?.detail}`)
    return step
  }
  const minuteMs = 60_000
  const hours = (count: number) => plusMs(now, count * 60 * minuteMs)

  test.each([
    ['a scheduled email', scheduled],
    ['a queued email', claimed],
    [
      'an email that was deferred before',
      { ...claimed, recipientStatus: 'delayed', statusDetail: 'later', attempts: 3 },
    ],
    ['an email of a brand that was paused', { ...claimed, recipientStatus: 'delayed', statusDetail: 'paused' }],
  ] as const)(
    '%s waits, is looked at each minute, and fails after 24 hours; its delay is recorded once',
    (_, recipient) => {
      const unready: ClaimedRecipient = { ...recipient, isReady: false, expiresAt: hours(100) }
      const first = wait(unready, now)
      const detail = first.event?.detail ?? ''
      expect(first).toMatchObject({
        event: {
          type: 'delayed',
          detail: expect.stringContaining('shop.test'),
          extra: { reason: 'domain_not_verified' },
        },
        dueAt: plusMs(now, minuteMs),
        attempts: unready.attempts,
      })
      const waiting: ClaimedRecipient = {
        ...unready,
        recipientStatus: 'delayed',
        statusDetail: detail,
        statusSince: now,
        lastReply: first.lastReply,
      }
      for (const hour of [1, 12, 23]) {
        const { event, dueAt } = wait(waiting, hours(hour))
        expect([event, dueAt]).toEqual([null, plusMs(hours(hour), minuteMs)])
      }
      expect(endBeforeSubmission(waiting, false, hours(24))).toMatchObject({
        kind: 'end',
        event: { type: 'failed', detail: 'The domain shop.test was not ready to send for 24 hours.' },
      })
      expect(endBeforeSubmission({ ...waiting, isReady: true }, false, hours(23))).toBeNull()
      // It was ready in between, and tried: it waits again.
      const tried = wait({ ...waiting, lastReply: '421 4.3.0 busy' }, hours(30))
      expect(tried).toMatchObject({ event: { type: 'delayed' }, lastReply: detail })
    },
  )

  test('an email fails when it expires before, with the reason', () => {
    const expiring = { ...scheduled, isReady: false, expiresAt: plusMs(now, minuteMs / 2) }
    const { dueAt, lastReply } = wait(expiring, now)
    expect(dueAt).toBe(expiring.expiresAt)
    expect(endBeforeSubmission({ ...expiring, lastReply }, false, dueAt)).toMatchObject({
      kind: 'end',
      event: {
        type: 'failed',
        enhancedCode: '4.4.7',
        detail: expect.stringContaining('shop.test is not ready to send'),
      },
    })
  })

  test('an email to a recipient who is suppressed does not wait', () => {
    const suppressed = endBeforeSubmission({ ...scheduled, isReady: false }, true, now)
    expect(suppressed).toMatchObject({ kind: 'end', event: { type: 'suppressed' } })
  })
})
