import { type Clock, type Instant, instantAt, millisecondsOf } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import type { ProviderReply, SubmissionOutcome } from '../../ports/provider/port.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { replyLine } from './outcome.ts'

const providerOpen = gauge(
  'mailroom_route_held',
  '1 while the relay circuit breaker is open: nothing is submitted to the provider but probes.',
  ['provider'],
)
const domainsOpen = gauge(
  'mailroom_route_domains_held',
  'Domains whose circuit breaker is open, because the provider refuses their mail.',
  ['provider'],
)

/** The soonest a postponed email is tried again, in milliseconds. */
const minRetryMs = 1000

/**
 * Whether the provider accepts mail: one circuit breaker for all mail, and one for each domain whose mail the provider
 * refuses. Opening is logged as an error, closing is noted.
 */
export class ProviderHealth {
  private readonly provider: string
  private readonly clock: Clock
  private readonly log: Log
  private readonly allMail = new CircuitBreaker()
  private readonly domains = new Map<Id<'dom'>, CircuitBreaker>()
  private opened: { readonly openedAt: Instant; readonly reply: string } | null = null

  constructor(provider: string, clock: Clock, log: Log) {
    this.provider = provider
    this.clock = clock
    this.log = log
    this.updateGauges()
  }

  /** When the next probe may be made; undefined: the breaker for all mail is closed. */
  openUntil(): Instant | undefined {
    const untilMs = this.allMail.openUntil()
    return untilMs === undefined ? undefined : instantAt(untilMs * 1000)
  }

  /** Since when the breaker for all mail is open, and the reply that opened it; null: it is closed. */
  openBreaker(): { readonly openedAt: Instant; readonly reply: string } | null {
    return this.openUntil() === undefined ? null : this.opened
  }

  /** May an email of this domain be submitted now? */
  allowsAttempt(domainId: Id<'dom'>): boolean {
    const nowMs = this.nowMs()
    return this.allMail.allowsAttempt(nowMs) && this.domains.get(domainId)?.allowsAttempt(nowMs) !== false
  }

  /** Begins a submission of this domain's mail, if that is allowed now. After `true` comes {@link ProviderHealth.recordOutcomes}. */
  beginAttempt(domainId: Id<'dom'>): boolean {
    if (!this.allowsAttempt(domainId)) return false
    this.allMail.beginAttempt()
    this.domains.get(domainId)?.beginAttempt()
    return true
  }

  /** When an email that was not allowed may be tried again. */
  retryAt(domainId: Id<'dom'>): Instant {
    const openUntilMs = Math.max(this.allMail.openUntil() ?? 0, this.domains.get(domainId)?.openUntil() ?? 0)
    return instantAt(Math.max(openUntilMs, this.nowMs() + minRetryMs) * 1000)
  }

  /** Records how an allowed submission went. */
  recordOutcomes(domainId: Id<'dom'>, outcomes: readonly SubmissionOutcome[]): void {
    const failure = outcomes.find(outcome => outcome.kind === 'route-error')
    const domain = this.domains.get(domainId)
    if (outcomes.some(outcome => outcome.kind === 'withdrawn')) {
      domain?.recordNoResult()
      this.allMail.recordNoResult()
    } else if (!failure) {
      this.domains.delete(domainId)
      this.recordSuccess(domain, { domain_id: domainId })
      this.recordSuccess(this.allMail, {})
    } else if (concernsAllMail(failure.reply)) {
      domain?.recordNoResult()
      this.recordFailure(this.allMail, failure.reply, {})
    } else {
      this.recordSuccess(this.allMail, {})
      const breaker = domain ?? new CircuitBreaker()
      this.domains.set(domainId, breaker)
      this.recordFailure(breaker, failure.reply, { domain_id: domainId })
    }
  }

  private recordFailure(breaker: CircuitBreaker, reply: ProviderReply, logKeys: object): void {
    if (!breaker.recordFailure(this.nowMs())) return
    this.updateGauges()
    if (breaker === this.allMail) this.opened = { openedAt: this.clock.now(), reply: replyLine(reply) }
    const { provider } = this
    this.log.error(
      { provider, ...logKeys, phase: reply.phase, reply: replyLine(reply) },
      'relay circuit breaker opened',
    )
  }

  private recordSuccess(breaker: CircuitBreaker | undefined, logKeys: object): void {
    if (!breaker?.recordSuccess()) return
    this.updateGauges()
    this.log.info({ provider: this.provider, ...logKeys }, 'relay circuit breaker closed')
  }

  private updateGauges(): void {
    const { provider } = this
    const openDomains = Array.from(this.domains.values()).filter(breaker => breaker.openUntil() !== undefined)
    providerOpen.set({ provider }, this.openUntil() === undefined ? 0 : 1)
    domainsOpen.set({ provider }, openDomains.length)
  }

  private nowMs(): number {
    return millisecondsOf(this.clock.now())
  }
}

/**
 * Does an error concern all mail, or only that of one domain? Up to AUTH nothing about the email has been sent, and errors
 * of the session (no reply, 421, authentication) concern all mail; otherwise the provider refuses the sender.
 */
function concernsAllMail({ phase, code }: ProviderReply): boolean {
  switch (phase) {
    case 'connect':
    case 'banner':
    case 'ehlo':
    case 'starttls':
    case 'auth':
      return true
    case 'mail':
    case 'rcpt':
    case 'data':
    case 'final-dot':
      return code === null || code === 421 || code === 530 || code === 535
    default:
      return phase satisfies never
  }
}
