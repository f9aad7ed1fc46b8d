import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { newWeightedSemaphore } from '../../base/concurrency/weighted-semaphore.ts'
import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { timed } from '../../base/observability/metrics.ts'
import { traced } from '../../base/observability/tracing.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { Provider, SubmissionOutcome } from '../../ports/provider/port.ts'
import { selectSuppressed } from '../accept/table.ts'
import { selectPausedBrandIds } from '../reports/pause-table.ts'
import type { ReturnPathSource } from '../reports/return-path.ts'
import { isSuppressed, suppressionSets } from '../suppressions/suppression-sets.ts'
import type { DkimKey } from './dkim-signature.ts'
import type { OutboxLeases } from './leases.ts'
import type { ClaimedRecipient } from './outbox.ts'
import {
  endBeforeSubmission,
  type NextStep,
  nextAfterError,
  nextAfterOutcome,
  postponeAttempt,
  postponeForPause,
} from './outcome.ts'
import { type FindSigningKeys, prepare } from './prepare.ts'
import type { ProviderHealth } from './provider-health.ts'
import type { RetryPolicy } from './retry.ts'
import { settling } from './settle.ts'
import { countSubmission } from './submission-metrics.ts'

export interface DelivererDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly provider: Provider
  readonly signingKeys: FindSigningKeys
  /** Where bounces come back to; undefined: to the From address. Used where the provider keeps the envelope sender. */
  readonly reversePaths?: ReturnPathSource | undefined
  readonly clock: Clock
  readonly log: Log
  readonly route: ProviderHealth
  readonly leases: OutboxLeases
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

export interface Deliverer {
  /** Carries what one claim took to the provider and writes what became of it. Never throws. */
  deliver(claimed: readonly ClaimedRecipient[]): Promise<void>
  /** Does something wait to be written because the database is away? Then nothing more is to be taken. */
  isBehind(): boolean
}

export function newDeliverer(deps: DelivererDeps): Deliverer {
  const { db, provider, clock, log, route, leases, retry } = deps
  const submitting = limitConcurrency(provider.traits.maxConcurrentSubmissions)
  const inMemory = newWeightedSemaphore(maxBytes)
  const settleOne = settling(db, clock)
  const reversePaths = provider.traits.returnPath === 'ours' ? deps.reversePaths : undefined
  let unwritten = 0

  async function carry(claimed: readonly ClaimedRecipient[]): Promise<void> {
    try {
      const facts = await loadClaimFacts(db, { signingKeys: deps.signingKeys, reversePaths }, claimed, clock.now())
      await Promise.all(
        Array.from(Map.groupBy(claimed, claimedRecipient => claimedRecipient.emailId).values(), email =>
          carryEmail(email, facts),
        ),
      )
    } catch (error) {
      log.error({ err: error, claimed: claimed.length }, 'could not carry a claim')
      await Promise.all(
        claimed.map(claimedRecipient =>
          settle(claimedRecipient, postponeAttempt(claimedRecipient, plusMs(clock.now(), againMs))),
        ),
      )
    }
  }

  /** The recipients of one email share its message. */
  async function carryEmail(email: readonly ClaimedRecipient[], facts: ClaimFacts): Promise<void> {
    const ends = email.map(
      claimedRecipient =>
        endBeforeSubmission(claimedRecipient, facts.isSuppressed(claimedRecipient), clock.now()) ??
        (facts.isPaused(claimedRecipient) ? postponeForPause(claimedRecipient, clock.now()) : null),
    )
    const going = email.filter((_, i) => ends[i] === null)
    await Promise.all([
      ...email.map((claimedRecipient, i) => ends[i] && settle(claimedRecipient, ends[i])),
      going[0] && goTraced(going, going[0], facts),
    ])
  }

  function goTraced(email: readonly ClaimedRecipient[], first: ClaimedRecipient, facts: ClaimFacts): Promise<void> {
    const { emailId, attempts } = first
    const said = { 'mailroom.email_id': emailId, 'mailroom.attempt': attempts + 1, 'mailroom.recipients': email.length }
    return traced({ name: 'submit email', kind: 'work', attributes: said }, () => go(email, first, facts))
  }

  async function go(email: readonly ClaimedRecipient[], first: ClaimedRecipient, facts: ClaimFacts): Promise<void> {
    const release = await inMemory.acquire(first.size)
    try {
      const message = await prepare(first, facts.keysOf(first), { blobs: deps.blobs, clock, traits: provider.traits })
      const isGrouped = provider.traits.multipleRecipients && reversePaths === undefined
      const groups = isGrouped ? [email] : email.map(claimedRecipient => [claimedRecipient])
      await Promise.all(groups.map(group => submitAndSettle(group, group[0] ?? first, { message, facts })))
    } catch (error) {
      log.error({ err: error, email_id: first.emailId }, 'could not prepare an email')
      const next = (claimedRecipient: ClaimedRecipient) =>
        isDatabaseUnavailable(error)
          ? postponeAttempt(claimedRecipient, plusMs(clock.now(), againMs))
          : nextAfterError(claimedRecipient, error, clock.now(), retry)
      await Promise.all(email.map(claimedRecipient => settle(claimedRecipient, next(claimedRecipient))))
    } finally {
      release()
    }
  }

  async function submitAndSettle(
    group: readonly ClaimedRecipient[],
    first: ClaimedRecipient,
    what: PreparedMessage,
  ): Promise<void> {
    const nexts = await submitting(async () => {
      const isLost = !group.every(claimedRecipient => leases.isValid(claimedRecipient))
      if (isLost || deps.isStopping())
        return group.map(claimedRecipient => postponeAttempt(claimedRecipient, clock.now()))
      if (!route.beginAttempt(first.domainId))
        return group.map(claimedRecipient => postponeAttempt(claimedRecipient, route.retryAt(first.domainId)))
      const outcomes = await timed('out', 'submit', () => submit(group, first, what))
      route.recordOutcomes(first.domainId, outcomes)
      const now = clock.now()
      return outcomes.map((outcome, i) => nextAfterOutcome(group[i] ?? first, outcome, now, retry))
    })
    await Promise.all(
      group.map((claimedRecipient, i) =>
        settle(claimedRecipient, nexts[i] ?? postponeAttempt(claimedRecipient, clock.now())),
      ),
    )
  }

  async function submit(
    group: readonly ClaimedRecipient[],
    first: ClaimedRecipient,
    { message, facts }: PreparedMessage,
  ): Promise<readonly SubmissionOutcome[]> {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), deps.attemptMs)
    const recipients = group.map(claimedRecipient => claimedRecipient.recipient)
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
  async function settle(claimed: ClaimedRecipient, next: NextStep): Promise<void> {
    leases.markSubmitted(claimed)
    for (let tries = 1; ; tries++) {
      try {
        const isOurs = await timed('out', 'settle', () => settleOne({ claimed, next }))
        if (!isOurs) log.warn({ email_id: claimed.emailId, attempt: claimed.attempts + 1 }, 'lost a lease')
        break
      } catch (error) {
        log.error({ err: error, email_id: claimed.emailId, attempt: claimed.attempts + 1 }, 'could not settle')
        if (deps.isStopping() && tries >= maxTriesWhileStopping) break
        const isAway = isDatabaseUnavailable(error)
        if (isAway) unwritten++
        await Bun.sleep(isAway ? againMs : Math.min(againMs * tries, maxAgainMs))
        if (isAway) unwritten--
      }
    }
    leases.release(claimed)
  }

  return { deliver: carry, isBehind: () => unwritten > 0 }
}

/** What is submitted, to each of an email's recipients. */
interface PreparedMessage {
  readonly message: Buffer
  readonly facts: ClaimFacts
}

interface ClaimFacts {
  reversePathOf(claimed: ClaimedRecipient): string
  keysOf(claimed: ClaimedRecipient): readonly DkimKey[]
  isSuppressed(claimed: ClaimedRecipient): boolean
  isPaused(claimed: ClaimedRecipient): boolean
}

/** The keys and return paths of the domains, who of the scheduled has been suppressed since, and which brands are paused. */
async function loadClaimFacts(
  db: Db,
  { signingKeys, reversePaths }: Pick<DelivererDeps, 'signingKeys' | 'reversePaths'>,
  claimed: readonly ClaimedRecipient[],
  now: Instant,
): Promise<ClaimFacts> {
  const released = claimed.filter(
    claimedRecipient => claimedRecipient.scheduledAt !== null && claimedRecipient.attempts === 0,
  )
  const candidates = released.map(claimedRecipient => ({
    brandId: claimedRecipient.brandId,
    email: claimedRecipient.recipient.toLowerCase(),
  }))
  const domainIds = [...new Set(claimed.map(claimedRecipient => claimedRecipient.domainId))]
  const [keys, hosts, suppressed, paused] = await Promise.all([
    signingKeys(db, domainIds),
    reversePaths?.findHosts(db, domainIds),
    candidates.length === 0 ? [] : selectSuppressed(db, candidates, now),
    selectPausedBrandIds(db, [...new Set(claimed.map(claimedRecipient => claimedRecipient.brandId))]),
  ])
  const onList = suppressionSets(suppressed)
  return {
    keysOf: claimedRecipient => keys.get(claimedRecipient.domainId) ?? [],
    reversePathOf(claimedRecipient) {
      const host = hosts?.get(claimedRecipient.domainId) ?? reversePaths?.ownHost
      return reversePaths && host
        ? reversePaths.returnPaths.addressOf(claimedRecipient, host)
        : claimedRecipient.fromAddress
    },
    isSuppressed: claimedRecipient => isSuppressed(claimedRecipient, claimedRecipient.recipient, onList),
    isPaused: claimedRecipient => paused.has(claimedRecipient.brandId),
  }
}
