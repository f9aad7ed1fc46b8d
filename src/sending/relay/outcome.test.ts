import { expect, test } from 'bun:test'
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
  emailId: 'eml_1',
  brandId: 'brd_1',
  domainId: 'dom_1',
  recipient: 'a@x.test',
  position: 0,
  recipientStatus: 'queued',
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

test('readiness and suppression are checked again at release, and only there', () => {
  const scheduled = { ...claimed, scheduledAt: now, recipientStatus: 'scheduled' } as const
  expect(endBeforeSubmission(scheduled, false, now)).toBeNull()
  expect(endBeforeSubmission(scheduled, true, now)).toMatchObject({ kind: 'end', event: { type: 'suppressed' } })
  const unready = endBeforeSubmission({ ...scheduled, isReady: false }, true, now)
  expect(unready).toMatchObject({ kind: 'end', event: { type: 'failed', extra: { reason: 'domain_not_verified' } } })
  expect(endBeforeSubmission({ ...claimed, isReady: false }, true, now)).toBeNull()
  expect(endBeforeSubmission({ ...scheduled, attempts: 1, isReady: false }, true, now)).toBeNull()
})
