import { describe, expect, test } from 'bun:test'
import type { Report } from '../mail/reports/report.ts'
import { noOriginal } from '../mail/reports/returned-message.ts'
import type { Verdict, Verdicts } from '../ports/authenticator/port.ts'
import { type DecisionInput, decide, type InboundPolicy } from './decide.ts'
import type { ScanOutcome } from './scan.ts'

const lenient: InboundPolicy = { dmarcReject: false, unscanned: 'quarantine' }
const rejecting: InboundPolicy = { dmarcReject: true, unscanned: 'quarantine' }
const deferring: InboundPolicy = { dmarcReject: false, unscanned: 'defer' }

const clean: ScanOutcome = { kind: 'clean' }
const infected: ScanOutcome = { kind: 'infected', signature: 'Eicar', attachments: [] }
const unscanned: ScanOutcome = { kind: 'unscanned', why: 'away' }

function verdict(result: Verdict['result'], aligned: boolean | null = null): Verdict {
  return { result, domain: 'a.test', aligned, detail: null }
}

interface TestCase {
  readonly spf?: Verdict
  readonly dkim?: Verdict
  readonly dmarc?: readonly [Verdict['result'], Verdicts['dmarc']['policy']]
  readonly scan?: ScanOutcome
  readonly authenticated?: readonly string[]
  readonly shown?: readonly string[]
  readonly fromFields?: number
  readonly mailFrom?: string
  readonly report?: Report['kind']
  readonly hops?: number
  readonly isResolverUnavailable?: boolean
  readonly isSpam?: boolean
  readonly listing?: DecisionInput['listing']
}

function evidence(input: TestCase): DecisionInput {
  const [result, policy] = input.dmarc ?? ['none', null]
  return {
    mailFrom: input.mailFrom ?? 'a@a.test',
    verdicts: {
      spf: input.spf ?? verdict('none'),
      dkim: input.dkim ?? verdict('none'),
      dmarc: { ...verdict(result), policy },
      arc: { ...verdict('none'), sealer: null },
      from: input.authenticated ?? ['a@a.test'],
    },
    isResolverUnavailable: input.isResolverUnavailable ?? false,
    scan: input.scan ?? clean,
    summary: {
      from: (input.shown ?? ['a@a.test']).map(address => ({ address, name: '' })),
      fromFields: input.fromFields ?? 1,
      hops: input.hops ?? 3,
      report: input.report ? reportOf(input.report) : null,
    },
    spam: input.isSpam === undefined ? null : { isSpam: input.isSpam },
    listing: input.listing ?? null,
  }
}

function reportOf(kind: Report['kind']): Report {
  const nothing = { messageId: null, writtenAt: null, reportingMta: null, envelopeId: null, feedbackType: null }
  return { ...nothing, kind, recipients: [], original: noOriginal, words: '' }
}

const fail = verdict('fail')
const alignedPass = verdict('pass', true)
const unalignedPass = verdict('pass', false)

/** Nobody in From, as `From: <>` or no From; or a name alone, as `From: <MAILER-DAEMON>`. */
const nobody = { shown: [], authenticated: [] } as const
const daemon = { shown: ['MAILER-DAEMON'], authenticated: ['MAILER-DAEMON'] } as const

const table: readonly (readonly [what: string, input: TestCase, policy: InboundPolicy, expected: string])[] = [
  ['nothing is known of the sender', {}, lenient, 'inbox accepted'],
  ['all passes', { spf: alignedPass, dkim: alignedPass, dmarc: ['pass', 'reject'] }, rejecting, 'inbox accepted'],

  ['DMARC fails with p=none', { dmarc: ['fail', 'none'] }, rejecting, 'inbox accepted'],
  ['DMARC fails with p=none and SPF fails', { spf: fail, dmarc: ['fail', 'none'] }, rejecting, 'inbox accepted'],
  ['DMARC fails with p=quarantine', { dmarc: ['fail', 'quarantine'] }, rejecting, 'spam dmarc_fail'],
  ['DMARC fails with p=reject, not rejecting', { dmarc: ['fail', 'reject'] }, lenient, 'spam dmarc_fail'],
  ['DMARC fails with p=reject, rejecting', { dmarc: ['fail', 'reject'] }, rejecting, 'refuse dmarc_reject'],
  ['DMARC has a DNS error', { spf: fail, dmarc: ['temperror', null] }, rejecting, 'inbox accepted'],
  ['DMARC has a DNS error under p=reject', { dmarc: ['temperror', 'reject'] }, rejecting, 'inbox accepted'],
  ['the spam filter asks for spam', { isSpam: true }, lenient, 'spam spam_filter'],
  ['the spam filter finds no spam', { isSpam: false }, lenient, 'inbox accepted'],
  ['DMARC fails and so says the spam filter', { dmarc: ['fail', 'reject'], isSpam: true }, lenient, 'spam dmarc_fail'],
  ['SPF fails and the spam filter finds nothing', { spf: fail, isSpam: false }, lenient, 'spam spf_fail'],
  ['the sender is blocked', { listing: 'block' }, lenient, 'spam sender_blocked'],
  [
    'the sender is blocked and passes DMARC',
    { listing: 'block', dmarc: ['pass', 'reject'] },
    lenient,
    'spam sender_blocked',
  ],
  [
    'the sender is blocked and is rejected',
    { listing: 'block', dmarc: ['fail', 'reject'] },
    rejecting,
    'refuse dmarc_reject',
  ],
  ['the sender is blocked and infected', { listing: 'block', scan: infected }, lenient, 'quarantine infected'],
  ['an allowed sender, against the spam filter', { listing: 'allow', isSpam: true }, lenient, 'inbox accepted'],
  [
    'an allowed sender who passes DMARC',
    { listing: 'allow', isSpam: true, dmarc: ['pass', 'reject'] },
    lenient,
    'inbox accepted',
  ],
  ['an allowed sender, against DMARC', { listing: 'allow', dmarc: ['fail', 'reject'] }, lenient, 'spam dmarc_fail'],
  [
    'an allowed sender, rejected by DMARC',
    { listing: 'allow', dmarc: ['fail', 'reject'] },
    rejecting,
    'refuse dmarc_reject',
  ],
  [
    'an allowed sender, p=none fails',
    { listing: 'allow', isSpam: true, dmarc: ['fail', 'none'] },
    lenient,
    'spam spam_filter',
  ],
  [
    'an allowed sender, DMARC unknown',
    { listing: 'allow', isSpam: true, dmarc: ['temperror', null] },
    lenient,
    'spam spam_filter',
  ],
  ['an allowed sender, against SPF', { listing: 'allow', spf: fail }, lenient, 'spam spf_fail'],
  ['an allowed sender who is infected', { listing: 'allow', scan: infected }, lenient, 'quarantine infected'],
  ['an allowed sender, deferred unscanned', { listing: 'allow', scan: unscanned }, deferring, 'refuse scanner_away'],

  ['the DMARC record is broken', { dmarc: ['permerror', null] }, rejecting, 'inbox accepted'],

  ['SPF fails and there is nothing else', { spf: fail }, lenient, 'spam spf_fail'],
  ['SPF fails beside an aligned signature', { spf: fail, dkim: alignedPass }, lenient, 'inbox accepted'],
  ['SPF fails beside an unaligned signature', { spf: fail, dkim: unalignedPass }, lenient, 'spam spf_fail'],
  ['SPF fails beside a broken signature', { spf: fail, dkim: verdict('fail', true) }, lenient, 'spam spf_fail'],
  ['SPF fails beside an unreadable key', { spf: fail, dkim: verdict('temperror', true) }, lenient, 'inbox accepted'],
  ['SPF fails and DMARC passes', { spf: fail, dmarc: ['pass', 'reject'] }, lenient, 'inbox accepted'],
  ['SPF softfails', { spf: verdict('softfail') }, lenient, 'inbox accepted'],
  ['SPF is neutral', { spf: verdict('neutral') }, lenient, 'inbox accepted'],
  ['SPF has a DNS error', { spf: verdict('temperror') }, lenient, 'inbox accepted'],
  ['the SPF record is broken', { spf: verdict('permerror') }, lenient, 'inbox accepted'],
  ['a signature fails', { dkim: fail }, lenient, 'inbox accepted'],

  ['it is infected', { scan: infected }, lenient, 'quarantine infected'],
  ['it is infected, deferring', { scan: infected }, deferring, 'quarantine infected'],
  ['it is infected and fails DMARC', { scan: infected, dmarc: ['fail', 'reject'] }, lenient, 'quarantine infected'],
  ['infected, DMARC, rejecting', { scan: infected, dmarc: ['fail', 'reject'] }, rejecting, 'refuse dmarc_reject'],
  ['it cannot be scanned', { scan: unscanned }, lenient, 'quarantine unscanned then inbox'],
  ['it can never be scanned', { scan: { ...unscanned, isPermanent: true } }, lenient, 'quarantine unscanned'],
  ['it cannot be scanned and fails SPF', { scan: unscanned, spf: fail }, lenient, 'quarantine unscanned then spam'],
  [
    'it cannot be scanned, and the filter asks for spam',
    { scan: unscanned, isSpam: true },
    lenient,
    'quarantine unscanned then spam',
  ],
  [
    'it cannot be scanned, and the sender is blocked',
    { scan: unscanned, listing: 'block' },
    lenient,
    'quarantine unscanned then spam',
  ],
  ['it cannot be scanned, deferring', { scan: unscanned }, deferring, 'refuse scanner_away'],

  ['our resolver is unavailable', { isResolverUnavailable: true }, lenient, 'refuse resolver_away'],
  [
    'our resolver is unavailable, a virus',
    { isResolverUnavailable: true, scan: infected },
    lenient,
    'refuse resolver_away',
  ],
  [
    'our resolver is unavailable, two Froms',
    { isResolverUnavailable: true, fromFields: 2 },
    lenient,
    'refuse from_malformed',
  ],

  ['it has 50 Received fields', { hops: 50 }, lenient, 'refuse mail_loop'],
  ['it has 49 Received fields', { hops: 49 }, lenient, 'inbox accepted'],

  ['there is no From', { fromFields: 0, shown: [], authenticated: [] }, lenient, 'refuse from_malformed'],
  ['From has no address', { shown: [], authenticated: [] }, lenient, 'refuse from_malformed'],
  ['From has two addresses', { shown: ['a@a.test', 'b@b.test'] }, lenient, 'refuse from_malformed'],
  ['there are two From fields', { fromFields: 2 }, lenient, 'refuse from_malformed'],
  ['two were authenticated', { authenticated: ['a@a.test', ''] }, lenient, 'refuse from_malformed'],
  ['another was authenticated', { authenticated: ['a@b.test'] }, lenient, 'refuse from_malformed'],
  ['it differs in case', { authenticated: ['A@A.TEST'] }, lenient, 'inbox accepted'],
  [
    'the domain was written in Unicode',
    { authenticated: ['a@bücher.test'], shown: ['a@xn--bcher-kva.test'] },
    lenient,
    'inbox accepted',
  ],
  ['From could not be checked', { authenticated: [], dmarc: ['permerror', null] }, rejecting, 'spam from_unchecked'],

  ['nobody in From, from a mail system', { ...nobody, mailFrom: '' }, lenient, 'spam from_unchecked'],
  ['no From, from a mail system', { ...nobody, fromFields: 0, mailFrom: '' }, lenient, 'spam from_unchecked'],
  ['a name in From, from a mail system', { ...daemon, mailFrom: '' }, lenient, 'spam from_unchecked'],
  ['a report with nobody in From', { ...nobody, mailFrom: '', report: 'bounce' }, lenient, 'inbox accepted'],
  ['a report without From', { ...nobody, fromFields: 0, mailFrom: '', report: 'delayed' }, lenient, 'inbox accepted'],
  ['a report with a name in From', { ...daemon, mailFrom: '', report: 'bounce' }, lenient, 'inbox accepted'],
  [
    'a report with nobody in From that fails SPF',
    { ...nobody, mailFrom: '', report: 'bounce', spf: fail },
    lenient,
    'spam spf_fail',
  ],
  [
    'an auto-reply with nobody in From',
    { ...nobody, mailFrom: '', report: 'auto-reply' },
    lenient,
    'spam from_unchecked',
  ],
  [
    'a report with nobody in From that cannot be scanned',
    { ...nobody, mailFrom: '', report: 'bounce', scan: unscanned },
    lenient,
    'quarantine unscanned then inbox',
  ],
  ['a report with nobody in From, from somebody', { ...nobody, report: 'bounce' }, lenient, 'refuse from_malformed'],
  ['two empty From fields', { ...nobody, fromFields: 2, mailFrom: '' }, lenient, 'refuse from_malformed'],
  [
    'two Froms in a report from a mail system',
    { shown: ['a@a.test', 'b@b.test'], mailFrom: '', report: 'bounce' },
    lenient,
    'refuse from_malformed',
  ],
  [
    'another was authenticated in a report from a mail system',
    { shown: [], authenticated: ['a@a.test'], mailFrom: '', report: 'bounce' },
    lenient,
    'refuse from_malformed',
  ],
  [
    'a report whose From could not be checked',
    { authenticated: [], mailFrom: '', report: 'bounce' },
    lenient,
    'spam from_unchecked',
  ],

  ['it is infected and has two Froms', { scan: infected, fromFields: 2 }, deferring, 'refuse from_malformed'],
  ['it cannot be scanned and has two Froms', { scan: unscanned, fromFields: 2 }, deferring, 'refuse from_malformed'],
]

describe('decides when', () => {
  for (const [what, input, policy, expected] of table)
    test(what, () => {
      const decision = decide(evidence(input), policy)
      const outcome =
        decision.kind === 'refuse'
          ? `refuse ${decision.code}`
          : `${decision.folder} ${decision.reason}${decision.releaseFolder ? ` then ${decision.releaseFolder}` : ''}`
      expect(outcome).toBe(expected)
    })
})
