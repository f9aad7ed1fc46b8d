import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { inTurn } from '../../base/concurrency/semaphore.ts'
import { newLimiter } from '../../base/concurrency/weighted-semaphore.ts'
import { type Db, isDatabaseTrouble } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { timed } from '../../base/observability/metrics.ts'
import { traced } from '../../base/observability/tracing.ts'
import type { Blobs } from '../../ports/blobs/port.ts'
import type { Outcome, Provider } from '../../ports/provider/port.ts'
import { isSuppressed, suppressionFacts } from '../accept/checks.ts'
import { findSuppressed } from '../accept/table.ts'
import { pausedAmong } from '../reports/pause-table.ts'
import type { ReversePaths } from '../reports/return-path.ts'
import type { Leases } from './leases.ts'
import type { Claimed } from './outbox.ts'
import { afterOutcome, afterTrouble, endBeforeSubmission, heldBack, heldByPause, type Next } from './outcome.ts'
import { type FindSigningKeys, prepare } from './prepare.ts'
import type { Route } from './provider-health.ts'
import type { RetryPolicy } from './retry.ts'
import { settling } from './settle.ts'
import type { DkimKey } from './sign.ts'
import { countSubmission } from './submission-metrics.ts'

export interface Carrying {
  readonly db: Db
  readonly blobs: Blobs
  readonly provider: Provider
  readonly signingKeys: FindSigningKeys
  /** Where bounces come back to; undefined: to the From address. Used where the provider keeps the envelope sender. */
  readonly reversePaths?: ReversePaths | undefined
  readonly clock: Clock
  readonly log: Log
  readonly route: Route
  readonly leases: Leases
  readonly retry: RetryPolicy
  /** The longest for one submission, in milliseconds. */
  readonly attemptMs: number
  /** True once no further submission is to be begun. */
  readonly isStopping: () => boolean
}

/** Messages in memory at once, in bytes; each is there about three times while it is signed and sent. */
const maxBytes = 64 * 1024 * 1024
const againMs = 1000
const maxAgainMs = 10_000
const maxTriesWhileStopping = 5

export interface Carrier {
  /** Carries what one claim took to the provider and writes what became of it. Never throws. */
  carry(claimed: readonly Claimed[]): Promise<void>
  /** Does something wait to be written because the database is away? Then nothing more is to be taken. */
  isBehind(): boolean
}

export function newCarrier(use: Carrying): Carrier {
  const { db, provider, clock, log, route, leases, retry } = use
  const submitting = inTurn(provider.traits.submissionsAtOnce)
  const inMemory = newLimiter(maxBytes)
  const settleOne = settling(db, clock)
  const reversePaths = provider.traits.returnPath === 'ours' ? use.reversePaths : undefined
  let unwritten = 0

  async function carry(claimed: readonly Claimed[]): Promise<void> {
    try {
      const facts = await findFacts(db, { signingKeys: use.signingKeys, reversePaths }, claimed, clock.now())
      await Promise.all(
        Array.from(Map.groupBy(claimed, each => each.emailId).values(), email => carryEmail(email, facts)),
      )
    } catch (error) {
      log.error({ err: error, claimed: claimed.length }, 'could not carry a claim')
      await Promise.all(claimed.map(each => settle(each, heldBack(each, plusMs(clock.now(), againMs)))))
    }
  }

  /** The recipients of one email share its message. */
  async function carryEmail(email: readonly Claimed[], facts: Facts): Promise<void> {
    const ends = email.map(
      each =>
        endBeforeSubmission(each, facts.isSuppressed(each), clock.now()) ??
        (facts.isPaused(each) ? heldByPause(each, clock.now()) : null),
    )
    const going = email.filter((_, i) => ends[i] === null)
    await Promise.all([
      ...email.map((each, i) => ends[i] && settle(each, ends[i])),
      going[0] && goTraced(going, going[0], facts),
    ])
  }

  function goTraced(email: readonly Claimed[], first: Claimed, facts: Facts): Promise<void> {
    const { emailId, attempts } = first
    const said = { 'mailroom.email_id': emailId, 'mailroom.attempt': attempts + 1, 'mailroom.recipients': email.length }
    return traced({ name: 'submit email', kind: 'work', facts: said }, () => go(email, first, facts))
  }

  async function go(email: readonly Claimed[], first: Claimed, facts: Facts): Promise<void> {
    const release = await inMemory.take(first.size)
    try {
      const message = await prepare(first, facts.keysOf(first), { blobs: use.blobs, clock, traits: provider.traits })
      const isGrouped = provider.traits.grouped && reversePaths === undefined
      const groups = isGrouped ? [email] : email.map(each => [each])
      await Promise.all(groups.map(group => submitAndSettle(group, group[0] ?? first, { message, facts })))
    } catch (error) {
      log.error({ err: error, email_id: first.emailId }, 'could not prepare an email')
      const next = (each: Claimed) =>
        isDatabaseTrouble(error)
          ? heldBack(each, plusMs(clock.now(), againMs))
          : afterTrouble(each, error, clock.now(), retry)
      await Promise.all(email.map(each => settle(each, next(each))))
    } finally {
      release()
    }
  }

  async function submitAndSettle(group: readonly Claimed[], first: Claimed, what: Prepared): Promise<void> {
    const nexts = await submitting(async () => {
      const isLost = !group.every(each => leases.isSafe(each))
      if (isLost || use.isStopping()) return group.map(each => heldBack(each, clock.now()))
      if (!route.admits(first.domainId)) return group.map(each => heldBack(each, route.nextTry(first.domainId)))
      const outcomes = await timed('out', 'submit', () => submit(group, first, what))
      route.heard(first.domainId, outcomes)
      const now = clock.now()
      return outcomes.map((outcome, i) => afterOutcome(group[i] ?? first, outcome, now, retry))
    })
    await Promise.all(group.map((each, i) => settle(each, nexts[i] ?? heldBack(each, clock.now()))))
  }

  async function submit(
    group: readonly Claimed[],
    first: Claimed,
    { message, facts }: Prepared,
  ): Promise<readonly Outcome[]> {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), use.attemptMs)
    const recipients = group.map(each => each.recipient)
    try {
      const outcomes = await provider.submit({
        emailId: first.emailId,
        mailFrom: facts.reversePathOf(first),
        recipients,
        message,
        signal: abort.signal,
      })
      outcomes.forEach((outcome, i) => {
        const { kind, reply } = outcome
        const claimed = group[i] ?? first
        const { emailId, attempts } = claimed
        countSubmission(claimed, outcome, clock.now())
        log.info(
          { email_id: emailId, attempt: attempts + 1, outcome: kind, phase: reply.phase, smtp_code: reply.code },
          'submitted',
        )
      })
      return outcomes
    } catch (error) {
      // A provider does not throw; if it does, nobody knows how far it came.
      log.error({ err: error, email_id: first.emailId }, 'the provider threw')
      const reply = { phase: 'final-dot', code: null, enhancedCode: null, text: 'Internal trouble.' } as const
      return group.map(() => ({ kind: 'deferred', reply, ambiguous: true }))
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Writes it, however long that takes: what is let go unwritten is submitted again once its lease has run out. While the
   * database is away nothing more is taken; what alone cannot be written keeps nothing else waiting.
   */
  async function settle(claimed: Claimed, next: Next): Promise<void> {
    leases.submitted(claimed)
    for (let tries = 1; ; tries++) {
      try {
        const isOurs = await timed('out', 'settle', () => settleOne({ claimed, next }))
        if (!isOurs) log.warn({ email_id: claimed.emailId, attempt: claimed.attempts + 1 }, 'lost a lease')
        break
      } catch (error) {
        log.error({ err: error, email_id: claimed.emailId, attempt: claimed.attempts + 1 }, 'could not settle')
        if (use.isStopping() && tries >= maxTriesWhileStopping) break
        const isAway = isDatabaseTrouble(error)
        if (isAway) unwritten++
        await Bun.sleep(isAway ? againMs : Math.min(againMs * tries, maxAgainMs))
        if (isAway) unwritten--
      }
    }
    leases.letGo(claimed)
  }

  return { carry, isBehind: () => unwritten > 0 }
}

/** What is submitted, to each of an email's recipients. */
interface Prepared {
  readonly message: Buffer
  readonly facts: Facts
}

interface Facts {
  reversePathOf(claimed: Claimed): string
  keysOf(claimed: Claimed): readonly DkimKey[]
  isSuppressed(claimed: Claimed): boolean
  isPaused(claimed: Claimed): boolean
}

/** The keys and return paths of the domains, who of the scheduled has been suppressed since, and which brands are paused. */
async function findFacts(
  db: Db,
  { signingKeys, reversePaths }: Pick<Carrying, 'signingKeys' | 'reversePaths'>,
  claimed: readonly Claimed[],
  now: Instant,
): Promise<Facts> {
  const released = claimed.filter(each => each.scheduledAt !== null && each.attempts === 0)
  const candidates = released.map(each => ({ brandId: each.brandId, email: each.recipient.toLowerCase() }))
  const domainIds = [...new Set(claimed.map(each => each.domainId))]
  const [keys, hosts, suppressed, paused] = await Promise.all([
    signingKeys(db, domainIds),
    reversePaths?.findHosts(db, domainIds),
    candidates.length === 0 ? [] : findSuppressed(db, candidates, now),
    pausedAmong(db, [...new Set(claimed.map(each => each.brandId))]),
  ])
  const onList = suppressionFacts(suppressed)
  return {
    keysOf: each => keys.get(each.domainId) ?? [],
    reversePathOf(each) {
      const host = hosts?.get(each.domainId) ?? reversePaths?.ownHost
      return reversePaths && host ? reversePaths.returnPaths.addressOf(each, host) : each.fromAddress
    },
    isSuppressed: each => isSuppressed(each, { email: each.recipient }, onList),
    isPaused: each => paused.has(each.brandId),
  }
}
