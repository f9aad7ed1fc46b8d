import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { newSemaphore, type Release } from '../../base/concurrency/semaphore.ts'
import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { timed } from '../../base/observability/metrics.ts'
import { traced } from '../../base/observability/tracing.ts'
import type { FindSigningKeys } from '../../domains/dkim/keys.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { Provider, SubmissionOutcome } from '../../ports/provider/port.ts'
import type { ReturnPathSource } from '../reports/return-path.ts'
import { type ClaimFacts, isSuppressedNow, loadClaimFacts, reversePathOf } from './claim-facts.ts'
import { claimDueRows } from './claim-table.ts'
import { FairQueue } from './flows/fair-queue.ts'
import type { FlowScheduler, Slot } from './flows/flow-scheduler.ts'
import type { OutboxLeases } from './leases.ts'
import type { Acceptance, ClaimedRecipient, FlowKey } from './outbox.ts'
import {
  endBeforeSubmission,
  type NextStep,
  nextAfterError,
  nextAfterOutcome,
  postponeAttempt,
  postponeForPause,
} from './outcome.ts'
import { prepareMessage, requireSigningKeys, signMessage } from './prepare-message.ts'
import type { ProviderHealth } from './provider-health.ts'
import type { RetryPolicy } from './retry.ts'
import { Settler } from './settler.ts'
import { SignedMessages } from './signed-messages.ts'
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
  readonly scheduler: FlowScheduler
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

interface ClaimRequest {
  readonly maxRows: number
  readonly expiredOnly: boolean
  readonly isBacklog: boolean
  readonly roomOf: (flow: FlowKey) => number
}

interface ClaimResult {
  readonly claimed: number
  readonly isMoreDue: boolean
  /** Is there room for more of a flow that something was claimed of? */
  readonly hasRoom: boolean
}

const retryMs = 1000

/**
 * Delivers what the outbox holds: claim → schedule → begin, prepare, sign → submit → settle, in the order of the methods
 * below. Whatever happens to a recipient after its claim, it ends in {@link Settler.settle}, unless its lease was lost.
 *
 * A connection submits the next message only when it is committed that the provider took the last one: a short note on the
 * row, written together with that of the next submission's begin; the events follow in larger groups. So when the process
 * dies, no more messages have been taken without a record than there are connections, and while the database is away nothing
 * more is submitted.
 */
export class Deliverer {
  private readonly deps: DelivererDeps
  private readonly fairQueue = new FairQueue()
  private readonly messages = new SignedMessages()
  /** A permit is held from before a submission until its outcome is recorded. */
  private readonly acquirePermit: () => Promise<Release | undefined>
  private readonly settler: Settler
  private readonly inFlight = new Set<Promise<unknown>>()
  /** One for each submission in progress. */
  private readonly withdrawals = new Set<AbortController>()

  constructor(deps: DelivererDeps) {
    const keepsReturnPath = deps.provider.traits.returnPath === 'ours'
    this.deps = { ...deps, reversePaths: keepsReturnPath ? deps.reversePaths : undefined }
    this.acquirePermit = newSemaphore(deps.provider.traits.maxConcurrentSubmissions)
    this.settler = new Settler(deps)
  }

  /** Ends the submissions of which nothing is transmitted yet; they are made again later. */
  withdraw(): void {
    for (const withdrawal of this.withdrawals) withdrawal.abort()
  }

  /** Resolves once all that was claimed is settled. */
  async drain(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.all(this.inFlight)
    await this.settler.drain()
  }

  /** Claim: takes due recipients under a lease, and delivers them in the background. */
  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { db, leaseMs, leases } = this.deps
    const claimedAt = leases.moment()
    const { now } = claimedAt
    const options = { ...request, leaseMs, now, isInHand: (id: ClaimedRecipient['id']) => leases.has(id) }
    const { recipients, isMoreDue } = await timed('out', 'claim', () =>
      claimDueRows(db, options, (tx, count) => this.fairQueue.next(tx, count, now, request.roomOf)),
    )
    leases.add(recipients, claimedAt)
    this.track(this.deliver(recipients))
    return { claimed: recipients.length, isMoreDue, hasRoom: recipients.some(flow => request.roomOf(flow) > 0) }
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
      await this.settler.settleAll(claimed, recipient => postponeAttempt(recipient, plusMs(clock.now(), retryMs)))
    }
  }

  /** Settles the recipients that are not to be submitted now; the others wait for a connection. */
  private async deliverEmail(recipients: readonly ClaimedRecipient[], facts: ClaimFacts): Promise<void> {
    const now = this.deps.clock.now()
    const steps = new Map(recipients.map(recipient => [recipient, stepBeforeSubmission(recipient, facts, now)]))
    const toSubmit = recipients.filter(recipient => steps.get(recipient) === null)
    await Promise.all([
      ...Array.from(steps, ([recipient, next]) => next && this.settler.settle(recipient, next, false)),
      ...this.submissionsOf(toSubmit).map(group => this.deliverMessage(group, facts)),
    ])
  }

  /** One submission a recipient, unless the provider takes several and their reverse-path is the same. */
  private submissionsOf(recipients: readonly ClaimedRecipient[]): readonly EmailRecipients[] {
    const [first] = recipients
    if (!first) return []
    const isGrouped = this.deps.provider.traits.multipleRecipients && this.deps.reversePaths === undefined
    return isGrouped ? [{ first, recipients }] : recipients.map(one => ({ first: one, recipients: [one] }))
  }

  private deliverMessage(group: EmailRecipients, facts: ClaimFacts): Promise<void> {
    const { emailId, attempts } = group.first
    const attributes = {
      'mailroom.email_id': emailId,
      'mailroom.attempt': attempts + 1,
      'mailroom.recipients': group.recipients.length,
    }
    return traced({ name: 'submit email', kind: 'work', attributes }, () => this.schedule(group, facts))
  }

  /** Schedule: waits for a connection, and gives the recipients back if they are not to wait any longer. */
  private async schedule(group: EmailRecipients, facts: ClaimFacts): Promise<void> {
    const { scheduler, clock, isStopping } = this.deps
    this.messages.enter(group.first, () => this.make(group.first, facts))
    try {
      const isRun =
        !isStopping() && (await scheduler.run(group.first, slot => this.submitAndSettle(group, facts, slot)))
      if (!isRun) await this.settler.settleAll(group.recipients, recipient => postponeAttempt(recipient, clock.now()))
    } finally {
      this.messages.leave(group.first)
    }
  }

  /** Ends when the provider has replied, or what else follows is written. Never throws. */
  private async submitAndSettle(group: EmailRecipients, facts: ClaimFacts, slot: Slot): Promise<void> {
    const { clock, log, leases, retry } = this.deps
    const { first, recipients } = group
    try {
      if (!this.maySubmitNow(first))
        return await this.settler.settleAll(recipients, one => this.stepInsteadOf(one, facts))
      await this.messages.use(first, async signed => {
        // At the same time: both wait for the database. What is begun but cannot be signed is settled like the rest.
        const [ours, message] = await Promise.all([this.begin(recipients), signed(() => this.make(first, facts))])
        if (ours[0]) await this.submitBegun({ first: ours[0], recipients: ours }, message, facts, slot)
      })
    } catch (error) {
      log.error({ err: error, email_id: first.emailId }, 'could not prepare an email for submission; it is tried again')
      const inHand = recipients.filter(recipient => leases.has(recipient.id))
      await this.settler.settleAll(inHand, recipient =>
        isDatabaseUnavailable(error)
          ? postponeAttempt(recipient, plusMs(clock.now(), retryMs))
          : nextAfterError(recipient, error, clock.now(), retry),
      )
    }
  }

  /** Is the email, whose turn has come, still to be submitted now? */
  private maySubmitNow({ domainId, expiresAt }: ClaimedRecipient): boolean {
    const { clock, health, isStopping } = this.deps
    return !isStopping() && expiresAt > clock.now() && health.allowsAttempt(domainId)
  }

  private stepInsteadOf(claimed: ClaimedRecipient, facts: ClaimFacts): NextStep {
    const { clock, health, isStopping } = this.deps
    const now = clock.now()
    const end = stepBeforeSubmission(claimed, facts, now)
    return end ?? postponeAttempt(claimed, isStopping() ? now : health.retryAt(claimed.domainId))
  }

  /** Begin: notes durably that the recipients are being submitted; gives those that are still ours. */
  private async begin(recipients: readonly ClaimedRecipient[]): Promise<readonly ClaimedRecipient[]> {
    const { leases, log } = this.deps
    const areOurs = await timed('out', 'begin', () =>
      Promise.all(recipients.map(recipient => leases.beginSubmission(recipient))),
    )
    for (const [i, recipient] of recipients.entries()) {
      if (areOurs[i]) continue
      log.warn({ email_id: recipient.emailId }, 'outbox lease lost; another process has the recipient')
      leases.release(recipient)
    }
    return recipients.filter((_, i) => areOurs[i])
  }

  private async make(claimed: ClaimedRecipient, facts: ClaimFacts): Promise<Buffer> {
    const keys = requireSigningKeys(claimed, facts)
    const message = await prepareMessage(claimed, this.deps.blobs)
    return signMessage(message, keys, this.deps)
  }

  /** Submits while the circuit breaker is closed. Ends with the provider's reply; what follows is recorded in the background. */
  private async submitBegun(group: EmailRecipients, message: Buffer, facts: ClaimFacts, slot: Slot): Promise<void> {
    const { clock, health, retry } = this.deps
    const { first, recipients } = group
    const release = await this.acquirePermit()
    if (!health.beginAttempt(first.domainId)) {
      release?.()
      return this.settler.settleAll(recipients, recipient => postponeAttempt(recipient, health.retryAt(first.domainId)))
    }
    const outcomes = await slot.time(() => timed('out', 'submit', () => this.submit(group, message, facts)))
    health.recordOutcomes(first.domainId, outcomes)
    const now = clock.now()
    const recording = outcomes.map(async (outcome, i) => {
      const recipient = recipients[i] ?? first
      const settling = () => this.settler.settle(recipient, nextAfterOutcome(recipient, outcome, now, retry), true)
      if (outcome.kind === 'accepted' && (await this.noteAccepted(recipient, { at: now, outcome })))
        this.track(settling())
      else await settling()
    })
    this.track(Promise.all(recording).finally(() => release?.()))
  }

  /** False: it is not noted, and so is to be settled at once. */
  private async noteAccepted(claimed: ClaimedRecipient, accepted: Acceptance): Promise<boolean> {
    const { leases, log } = this.deps
    try {
      return await timed('out', 'note', () => leases.noteAccepted(claimed, accepted))
    } catch (error) {
      log.error(
        { err: error, email_id: claimed.emailId },
        'could not note that the provider accepted an email; its outcome is recorded now',
      )
      return false
    }
  }

  /** Something in the background that {@link Deliverer.drain} waits for. It never rejects. */
  private track(work: Promise<unknown>): void {
    const tracked: Promise<unknown> = work.finally(() => this.inFlight.delete(tracked))
    this.inFlight.add(tracked)
  }

  /** Submit: hands the message to the provider; one outcome for each recipient, in their order. Never throws. */
  private async submit(
    { first, recipients }: EmailRecipients,
    message: Buffer,
    facts: ClaimFacts,
  ): Promise<readonly SubmissionOutcome[]> {
    const { provider, reversePaths, leases, attemptMs, log, isStopping } = this.deps
    const abort = new AbortController()
    const withdrawal = new AbortController()
    this.withdrawals.add(withdrawal)
    if (isStopping()) withdrawal.abort()
    const timer = setTimeout(() => abort.abort(), attemptMs)
    try {
      const outcomes = await provider.submit({
        emailId: first.emailId,
        mailFrom: reversePathOf(first, facts, reversePaths),
        recipients: recipients.map(recipient => recipient.recipient),
        message,
        signal: abort.signal,
        withdraw: withdrawal.signal,
        mayBeAccepted: () => recipients.every(recipient => leases.isStillOurs(recipient)),
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
      this.withdrawals.delete(withdrawal)
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
}

/** What ends a recipient or makes it wait before it is submitted; null: it is to be submitted. */
function stepBeforeSubmission(claimed: ClaimedRecipient, facts: ClaimFacts, now: Instant): NextStep | null {
  const end = endBeforeSubmission(claimed, isSuppressedNow(claimed, facts), now)
  if (end) return end
  return facts.pausedBrands.has(claimed.brandId) ? postponeForPause(claimed, now) : null
}
