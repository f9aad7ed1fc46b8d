import { type Clock, type Instant, millisecondsOf, plusMs } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { newWeightedSemaphore } from '../../base/concurrency/weighted-semaphore.ts'
import { type Db, inTransaction, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { timed } from '../../base/observability/metrics.ts'
import { traced } from '../../base/observability/tracing.ts'
import type { FindSigningKeys, SigningKey } from '../../domains/dkim/keys.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { Provider, SubmissionOutcome } from '../../ports/provider/port.ts'
import { recordEvents } from '../events/events.ts'
import { recordReports } from '../reports/reports.ts'
import type { ReturnPathSource } from '../reports/return-path.ts'
import { type ClaimFacts, isSuppressedNow, loadClaimFacts, reversePathOf } from './claim-facts.ts'
import { dkimSignatures } from './dkim-signature.ts'
import { FairQueue } from './fair-queue.ts'
import type { OutboxLeases } from './leases.ts'
import { type ClaimedRecipient, claimDueRows, deleteOutboxRows, lockLeasedRows, updateRescheduled } from './outbox.ts'
import {
  bounceReport,
  endBeforeSubmission,
  type NextStep,
  NoSigningKeyError,
  nextAfterError,
  nextAfterOutcome,
  postponeAttempt,
  postponeForPause,
} from './outcome.ts'
import type { ProviderHealth } from './provider-health.ts'
import type { RetryPolicy } from './retry.ts'
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
  readonly health: ProviderHealth
  readonly leases: OutboxLeases
  /** How long a claim is valid without being renewed, in milliseconds. */
  readonly leaseMs: number
  readonly retry: RetryPolicy
  /** The longest for one submission, in milliseconds. */
  readonly attemptMs: number
  /** True once no further submission is to begin. */
  readonly isStopping: () => boolean
}

/** Recipients of one email; all that is read of `first` besides its recipient is the same for each. */
interface EmailRecipients {
  readonly first: ClaimedRecipient
  readonly recipients: readonly ClaimedRecipient[]
}

/** Messages in memory at once, in bytes; each is there about three times while it is signed and submitted. */
const maxMessageBytes = 64 * 1024 * 1024
const retryMs = 1000
const maxRetryMs = 10_000
const maxSettleTriesWhileStopping = 5

/**
 * Delivers what the outbox holds: claim → prepare → sign → submit → settle, in the order of the methods below. Whatever
 * happens to a recipient after its claim, it ends in {@link Deliverer.settle}.
 */
export class Deliverer {
  private readonly deps: DelivererDeps
  private readonly fairQueue = new FairQueue()
  private readonly limitSubmissions: <Result>(work: () => Promise<Result>) => Promise<Result>
  private readonly messageMemory = newWeightedSemaphore(maxMessageBytes)
  private readonly writeSettlement: (settlement: Settlement) => Promise<boolean>
  private readonly inFlight = new Set<Promise<void>>()
  private waitingForDatabase = 0

  constructor(deps: DelivererDeps) {
    const keepsReturnPath = deps.provider.traits.returnPath === 'ours'
    this.deps = { ...deps, reversePaths: keepsReturnPath ? deps.reversePaths : undefined }
    this.limitSubmissions = limitConcurrency(deps.provider.traits.maxConcurrentSubmissions)
    this.writeSettlement = newSettlementWriter(deps.db, deps.clock)
  }

  /** Do settlements wait because the database is unavailable? Then nothing more is to be claimed. */
  isWaitingForDatabase(): boolean {
    return this.waitingForDatabase > 0
  }

  /** Resolves once all that was claimed is settled. */
  async drain(): Promise<void> {
    await Promise.all(this.inFlight)
  }

  /** Claim: takes at most `maxRows` due recipients under a lease, and delivers them in the background; gives how many. */
  async claim(maxRows: number, { expiredOnly }: { readonly expiredOnly: boolean }): Promise<number> {
    const { db, clock, leaseMs, leases } = this.deps
    const now = clock.now()
    const claimed = await timed('out', 'claim', () =>
      claimDueRows(db, { maxRows, leaseMs, now, expiredOnly }, (tx, count) => this.fairQueue.next(tx, count, now)),
    )
    leases.add(claimed, plusMs(now, leaseMs))
    const delivery = this.deliver(claimed).finally(() => this.inFlight.delete(delivery))
    this.inFlight.add(delivery)
    return claimed.length
  }

  /** Never throws. */
  private async deliver(claimed: readonly ClaimedRecipient[]): Promise<void> {
    const { db, signingKeys, reversePaths, clock, log } = this.deps
    try {
      const facts = await loadClaimFacts({ db, signingKeys, reversePaths }, claimed, clock.now())
      const emails = Map.groupBy(claimed, recipient => recipient.emailId).values()
      await Promise.all(Array.from(emails, recipients => this.deliverEmail(recipients, facts)))
    } catch (error) {
      log.error(
        { err: error, claimed: claimed.length },
        'could not process claimed outbox rows; they are tried again in a second',
      )
      await this.settleAll(claimed, recipient => postponeAttempt(recipient, plusMs(clock.now(), retryMs)))
    }
  }

  /** Settles the recipients that are not to be submitted now; the others share one message. */
  private async deliverEmail(recipients: readonly ClaimedRecipient[], facts: ClaimFacts): Promise<void> {
    const now = this.deps.clock.now()
    const steps = new Map(recipients.map(recipient => [recipient, stepBeforeSubmission(recipient, facts, now)]))
    const toSubmit = recipients.filter(recipient => steps.get(recipient) === null)
    const [first] = toSubmit
    await Promise.all([
      ...Array.from(steps, ([recipient, next]) => next && this.settle(recipient, next)),
      first && this.deliverMessage({ first, recipients: toSubmit }, facts),
    ])
  }

  private deliverMessage(email: EmailRecipients, facts: ClaimFacts): Promise<void> {
    const { emailId, attempts } = email.first
    const attributes = {
      'mailroom.email_id': emailId,
      'mailroom.attempt': attempts + 1,
      'mailroom.recipients': email.recipients.length,
    }
    return traced({ name: 'submit email', kind: 'work', attributes }, () => this.prepareAndSubmit(email, facts))
  }

  private async prepareAndSubmit(email: EmailRecipients, facts: ClaimFacts): Promise<void> {
    const { clock, log, retry } = this.deps
    const release = await this.messageMemory.acquire(email.first.size)
    try {
      const keys = requireSigningKeys(email.first, facts)
      const message = await this.prepare(email.first)
      const signed = await this.sign(message, keys)
      await Promise.all(this.submissionsOf(email).map(group => this.submitAndSettle(group, signed, facts)))
    } catch (error) {
      log.error(
        { err: error, email_id: email.first.emailId },
        'could not prepare an email for submission; it is tried again',
      )
      await this.settleAll(email.recipients, recipient =>
        isDatabaseUnavailable(error)
          ? postponeAttempt(recipient, plusMs(clock.now(), retryMs))
          : nextAfterError(recipient, error, clock.now(), retry),
      )
    } finally {
      release()
    }
  }

  /**
   * Prepare: the stored message with its Date, which is when the email was accepted or scheduled for: the same at each
   * attempt.
   */
  private async prepare({ organizationId, blobId, scheduledAt, createdAt }: ClaimedRecipient): Promise<Buffer> {
    const stored = await timed('out', 'read', () => this.deps.blobs.readWhole(organizationId, blobId))
    return Buffer.concat([dateField(scheduledAt ?? createdAt), stored])
  }

  /** Sign: puts one DKIM signature a key in front of the message. */
  private async sign(message: Buffer, keys: readonly SigningKey[]): Promise<Buffer> {
    const { clock, provider } = this.deps
    const nowSeconds = Math.floor(millisecondsOf(clock.now()) / 1000)
    const signatures = await timed('out', 'sign', () =>
      dkimSignatures(message, keys, nowSeconds, provider.traits.unsignedHeaders),
    )
    return Buffer.concat([signatures, message])
  }

  /** One submission a recipient, unless the provider takes several and their reverse-path is the same. */
  private submissionsOf(email: EmailRecipients): readonly EmailRecipients[] {
    const isGrouped = this.deps.provider.traits.multipleRecipients && this.deps.reversePaths === undefined
    return isGrouped ? [email] : email.recipients.map(recipient => ({ first: recipient, recipients: [recipient] }))
  }

  private async submitAndSettle(group: EmailRecipients, message: Buffer, facts: ClaimFacts): Promise<void> {
    const { clock } = this.deps
    const steps = await this.limitSubmissions(() => this.submitWhenAllowed(group, message, facts))
    await Promise.all(
      group.recipients.map((recipient, i) =>
        this.settle(recipient, steps[i] ?? postponeAttempt(recipient, clock.now())),
      ),
    )
  }

  /** Submits while the leases are valid and the circuit breaker is closed; gives what follows for each recipient. */
  private async submitWhenAllowed(
    group: EmailRecipients,
    message: Buffer,
    facts: ClaimFacts,
  ): Promise<readonly NextStep[]> {
    const { clock, health, leases, retry, isStopping } = this.deps
    const { first, recipients } = group
    const isLeaseLost = !recipients.every(recipient => leases.isValid(recipient))
    if (isLeaseLost || isStopping()) return recipients.map(recipient => postponeAttempt(recipient, clock.now()))
    if (!health.beginAttempt(first.domainId))
      return recipients.map(recipient => postponeAttempt(recipient, health.retryAt(first.domainId)))
    const outcomes = await timed('out', 'submit', () => this.submit(group, message, facts))
    health.recordOutcomes(first.domainId, outcomes)
    const now = clock.now()
    return outcomes.map((outcome, i) => nextAfterOutcome(recipients[i] ?? first, outcome, now, retry))
  }

  /** Submit: hands the message to the provider; one outcome for each recipient, in their order. Never throws. */
  private async submit(
    { first, recipients }: EmailRecipients,
    message: Buffer,
    facts: ClaimFacts,
  ): Promise<readonly SubmissionOutcome[]> {
    const { provider, reversePaths, attemptMs, log } = this.deps
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), attemptMs)
    try {
      const outcomes = await provider.submit({
        emailId: first.emailId,
        mailFrom: reversePathOf(first, facts, reversePaths),
        recipients: recipients.map(recipient => recipient.recipient),
        message,
        signal: abort.signal,
      })
      for (const [i, outcome] of outcomes.entries()) this.reportOutcome(recipients[i] ?? first, outcome)
      return outcomes
    } catch (error) {
      // A provider does not throw; if it does, nobody knows whether it accepted the message.
      log.error(
        { err: error, email_id: first.emailId },
        'submission failed with an unexpected error; it is tried again',
      )
      const reply = { phase: 'final-dot', code: null, enhancedCode: null, text: 'Internal error.' } as const
      return recipients.map(() => ({ kind: 'deferred', reply, ambiguous: true }))
    } finally {
      clearTimeout(timer)
    }
  }

  private reportOutcome(claimed: ClaimedRecipient, outcome: SubmissionOutcome): void {
    const { clock, log } = this.deps
    const { kind, reply } = outcome
    countSubmission(claimed, outcome, clock.now())
    const { emailId, attempts } = claimed
    log.info(
      { email_id: emailId, attempt: attempts + 1, outcome: kind, phase: reply.phase, smtp_code: reply.code },
      'submitted',
    )
  }

  private async settleAll(
    recipients: readonly ClaimedRecipient[],
    nextStep: (recipient: ClaimedRecipient) => NextStep,
  ): Promise<void> {
    await Promise.all(recipients.map(recipient => this.settle(recipient, nextStep(recipient))))
  }

  /**
   * Settle: writes what follows for a recipient, however long that takes, because a lease released unwritten means another
   * submission. While the database is unavailable nothing more is claimed; what alone cannot be written holds up nothing
   * else.
   */
  private async settle(claimed: ClaimedRecipient, next: NextStep): Promise<void> {
    const { leases, log, isStopping } = this.deps
    const logKeys = { email_id: claimed.emailId, attempt: claimed.attempts + 1 }
    leases.markSubmitted(claimed)
    for (let tries = 1; ; tries++) {
      try {
        const isWritten = await timed('out', 'settle', () => this.writeSettlement({ claimed, next }))
        if (!isWritten) log.warn(logKeys, 'outbox lease lost; another process has the recipient')
        break
      } catch (error) {
        log.error({ err: error, ...logKeys }, 'could not write the outcome of a submission; it is tried again')
        if (isStopping() && tries >= maxSettleTriesWhileStopping) break
        await this.waitToSettleAgain(tries, isDatabaseUnavailable(error))
      }
    }
    leases.release(claimed)
  }

  private async waitToSettleAgain(tries: number, isDatabaseAway: boolean): Promise<void> {
    if (isDatabaseAway) this.waitingForDatabase++
    await Bun.sleep(isDatabaseAway ? retryMs : Math.min(retryMs * tries, maxRetryMs))
    if (isDatabaseAway) this.waitingForDatabase--
  }
}

/** What ends a recipient or makes it wait before it is submitted; null: it is to be submitted. */
function stepBeforeSubmission(claimed: ClaimedRecipient, facts: ClaimFacts, now: Instant): NextStep | null {
  const end = endBeforeSubmission(claimed, isSuppressedNow(claimed, facts), now)
  if (end) return end
  return facts.pausedBrands.has(claimed.brandId) ? postponeForPause(claimed, now) : null
}

/** @throws NoSigningKeyError */
function requireSigningKeys({ domainId, fromAddress }: ClaimedRecipient, facts: ClaimFacts): readonly SigningKey[] {
  const keys = facts.signingKeys.get(domainId)
  if (!keys || keys.length === 0) throw new NoSigningKeyError(`The domain of ${fromAddress} has no signing key.`)
  return keys
}

/** RFC 5322 §3.6.1. */
function dateField(at: Instant): Buffer {
  return Buffer.from(`Date: ${new Date(millisecondsOf(at)).toUTCString().replace('GMT', '+0000')}\r\n`)
}

/** What is to be written about one claimed recipient. */
export interface Settlement {
  readonly claimed: ClaimedRecipient
  readonly next: NextStep
}

/** Writes settlements; those at the same time share a transaction. False: the lease was lost, and nothing was written. */
export function newSettlementWriter(db: Db, clock: Clock): (settlement: Settlement) => Promise<boolean> {
  return batched({ maxItems: 100, maxInFlight: 1 }, settlements =>
    inTransaction(db, tx => writeSettlements(tx, settlements, clock)),
  )
}

/** Statuses and events of the recipients whose lease is still ours, and their outbox rows deleted or rescheduled. */
async function writeSettlements(tx: Db, settlements: readonly Settlement[], clock: Clock): Promise<readonly boolean[]> {
  const leases = await lockLeasedRows(
    tx,
    settlements.map(settlement => settlement.claimed),
  )
  const now = clock.now()
  const isOurs = ({ claimed }: Settlement) => leases.get(claimed.id) === claimed.lease
  const ours = settlements.filter(isOurs)
  const events = ours.flatMap(({ next }) => (next.event ? [next.event] : []))
  const bounces = events.flatMap(event => bounceReport(event) ?? [])
  if (bounces.length > 0) await recordReports(tx, bounces, now)
  await recordEvents(
    tx,
    events.filter(event => event.type !== 'bounced'),
    now,
  )
  await deleteOutboxRows(
    tx,
    ours.filter(({ next }) => next.kind === 'end').map(({ claimed }) => claimed.id),
  )
  await updateRescheduled(
    tx,
    ours.flatMap(({ claimed, next }) => (next.kind === 'retry' ? { ...next, id: claimed.id } : [])),
  )
  return settlements.map(isOurs)
}
