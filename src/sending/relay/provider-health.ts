import { type Clock, type Instant, instantAt, millisecondsOf } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import type { ProviderReply, SubmissionOutcome } from '../../ports/provider/port.ts'
import { type CircuitBreaker, newCircuitBreaker } from './circuit-breaker.ts'
import { replyLine } from './outcome.ts'

/** The way to the provider, with a breaker for all of it and one for each domain whose mail it refuses. */
export interface ProviderHealth {
  /** All of it is held back until then; undefined: it is not. */
  openUntil(): Instant | undefined
  /** May an email of this domain be submitted now? After `true` comes {@link ProviderHealth.recordOutcomes}. */
  beginAttempt(domainId: Id<'dom'>): boolean
  /** When an email that was not admitted may try again. */
  retryAt(domainId: Id<'dom'>): Instant
  /** Notes how a submission went that was admitted. */
  recordOutcomes(domainId: Id<'dom'>, outcomes: readonly SubmissionOutcome[]): void
}

const held = gauge('mailroom_route_held', '1 while the route to the provider is held back.', ['provider'])
const domainsHeld = gauge('mailroom_route_domains_held', 'Domains whose mail the provider refuses.', ['provider'])

const meanwhileMs = 1000

/** Holding back is logged as an error once, when it begins, and noted when it ends. */
export function newProviderHealth(provider: string, clock: Clock, log: Log): ProviderHealth {
  const whole = newCircuitBreaker()
  const domains = new Map<Id<'dom'>, CircuitBreaker>()
  const nowMs = () => millisecondsOf(clock.now())

  function measure(): void {
    held.set({ provider }, whole.openUntil() === undefined ? 0 : 1)
    const ofDomains = Array.from(domains.values()).filter(domain => domain.openUntil() !== undefined)
    domainsHeld.set({ provider }, ofDomains.length)
  }
  measure()

  function troubled(breaker: CircuitBreaker, reply: ProviderReply, whose: object): void {
    if (!breaker.recordFailure(nowMs())) return
    measure()
    log.error({ provider, ...whose, phase: reply.phase, reply: replyLine(reply) }, 'held the route back')
  }

  function succeeded(breaker: CircuitBreaker | undefined, whose: object): void {
    if (!breaker?.recordSuccess()) return
    measure()
    log.info({ provider, ...whose }, 'opened the route again')
  }

  return {
    openUntil() {
      const until = whole.openUntil()
      return until === undefined ? undefined : instantAt(until * 1000)
    },
    beginAttempt(domainId) {
      const own = domains.get(domainId)
      const now = nowMs()
      if (!whole.allowsAttempt(now) || own?.allowsAttempt(now) === false) return false
      whole.beginAttempt()
      own?.beginAttempt()
      return true
    },
    retryAt(domainId) {
      const until = Math.max(whole.openUntil() ?? 0, domains.get(domainId)?.openUntil() ?? 0)
      return instantAt(Math.max(until, nowMs() + meanwhileMs) * 1000)
    },
    recordOutcomes(domainId, outcomes) {
      const trouble = outcomes.find(outcome => outcome.kind === 'route-error')
      const own = domains.get(domainId)
      if (!trouble) {
        domains.delete(domainId)
        succeeded(own, { domain_id: domainId })
        succeeded(whole, {})
      } else if (concernsEveryone(trouble.reply)) {
        own?.recordNoResult()
        troubled(whole, trouble.reply, {})
      } else {
        succeeded(whole, {})
        const breaker = own ?? newCircuitBreaker()
        domains.set(domainId, breaker)
        troubled(breaker, trouble.reply, { domain_id: domainId })
      }
    },
  }
}

/**
 * Is it the whole route that is in trouble, or only what one domain sends? Until AUTH nothing of the email was said, and
 * what concerns the session (no reply, 421, authentication) concerns everyone; else the relay has met the sender.
 */
function concernsEveryone({ phase, code }: ProviderReply): boolean {
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
