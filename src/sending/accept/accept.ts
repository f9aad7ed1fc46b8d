import { storeResponses } from '../../api/idempotency/store.ts'
import type { Clock } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import type { Refusal } from '../../base/refusal.ts'
import { appendEvents } from '../../events/append-events.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { joinThreads } from '../threads/threads.ts'
import { type AcceptedEmail, acceptedEmail, acceptedResponseBody } from './accepted-response.ts'
import type { SendCandidate, StampedCandidate } from './candidate.ts'
import { checkSends, countSends } from './checks.ts'
import { emailRows } from './email-rows.ts'
import { type AcceptanceFacts, loadFacts } from './facts.ts'
import { acceptedFeedEvents } from './feed-events.ts'
import { referencesOf } from './headers.ts'
import { storeStagedMessages } from './stage-message.ts'
import { insertEmails, lockEmail } from './table.ts'
import { UniqueInstants } from './unique-instants.ts'

export interface AcceptDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly clock: Clock
  /** The name of the provider that will deliver. */
  readonly provider: string
}

/** What became of a send. */
export type AcceptResult =
  | { readonly kind: 'accepted'; readonly accepted: AcceptedEmail }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

const maxTries = 12
/**
 * In this time clients that got their responses send their next emails. Otherwise half of the clients would always wait for the
 * transaction of the other half, and each transaction costs as much as those of several more emails.
 */
const gatherMs = 4
/** Requests with transactions of their own, at once: they are long, and leave connections to all others. */
const maxTogether = 2

/** Accepts composed sends: those that come at the same time share a transaction. One for a process. */
export class Acceptor {
  private readonly deps: AcceptDeps
  private readonly instants: UniqueInstants
  private readonly acceptBatched: (candidate: SendCandidate) => Promise<AcceptResult>
  private readonly together = limitConcurrency(maxTogether)

  constructor(deps: AcceptDeps) {
    this.deps = deps
    this.instants = new UniqueInstants(deps.clock)
    this.acceptBatched = batched({ maxItems: 32, maxInFlight: 1, gatherMs, inPowersOfTwo: true }, candidates =>
      this.acceptBatch(candidates),
    )
  }

  /**
   * Applies the acceptance checks and writes the email with its outbox rows, in one transaction; resolves once that is
   * committed.
   * @throws Refusal of the first check that the send fails
   */
  async checkAndEnqueue(candidate: SendCandidate): Promise<AcceptedEmail> {
    const result = await this.acceptBatched(candidate)
    switch (result.kind) {
      case 'accepted':
        return result.accepted
      case 'refused':
        throw result.refusal
      default:
        return result satisfies never
    }
  }

  /**
   * The same for the sends of one request, which has a transaction of its own: it accepts all that pass the checks, in their
   * order, or none of them.
   * @param conclude called in the transaction with the result of each; what it throws rolls all of them back
   */
  acceptTogether(
    candidates: readonly SendCandidate[],
    conclude: (tx: Db, results: readonly AcceptResult[]) => Promise<void>,
  ): Promise<readonly AcceptResult[]> {
    const acceptIn = async (tx: Db, stamped: readonly StampedCandidate[]) => {
      const results = stamped.length === 0 ? [] : await checkAndEnqueueIn(tx, this.deps, stamped, new Set())
      await conclude(tx, results)
      return results
    }
    return this.together(() =>
      this.withUniqueInstants(candidates, stamped =>
        inTransaction(this.deps.db, tx => acceptIn(tx, stamped), wereAccepted),
      ),
    )
  }

  private acceptBatch(candidates: readonly SendCandidate[]): Promise<readonly AcceptResult[]> {
    return this.withUniqueInstants(candidates, stamped => acceptAll(this.deps, stamped))
  }

  /** Tries again with other instants when another process gave one of the same. */
  private async withUniqueInstants<Result>(
    candidates: readonly SendCandidate[],
    accept: (stamped: readonly StampedCandidate[]) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const stamped = candidates.map(candidate => ({ ...candidate, createdAt: this.instants.next() }))
      try {
        return await accept(stamped)
      } catch (error) {
        if (attempt === maxTries || !isDuplicate(error, 'emails_created')) throw error
        this.instants.leap(attempt)
      }
    }
  }
}

/** Done again, as a whole, without the sends whose Idempotency-Key went to another request meanwhile. */
async function acceptAll(deps: AcceptDeps, candidates: readonly StampedCandidate[]): Promise<readonly AcceptResult[]> {
  const lostReservations = new Set<StampedCandidate>()
  for (;;) {
    try {
      return await inTransaction(deps.db, tx => checkAndEnqueueIn(tx, deps, candidates, lostReservations), wereAccepted)
    } catch (error) {
      if (!(error instanceof ReservationsLostError)) throw error
      for (const candidate of error.candidates) lostReservations.add(candidate)
    }
  }
}

/** Whether the transaction with these results took place: its emails exist all or none. */
async function wereAccepted(db: Db, results: readonly AcceptResult[]): Promise<boolean> {
  const result = results.find(({ kind }) => kind === 'accepted')
  return result?.kind !== 'accepted' || (await lockEmail(db, result.accepted.id))
}

class ReservationsLostError extends Error {
  override readonly name = 'ReservationsLostError'
  readonly candidates: readonly StampedCandidate[]
  constructor(candidates: readonly StampedCandidate[]) {
    super('the Idempotency-Key is held by another request')
    this.candidates = candidates
  }
}

/** What the transaction does: check, store the responses, enqueue, remove the drafts that were sent. */
async function checkAndEnqueueIn(
  tx: Db,
  deps: AcceptDeps,
  candidates: readonly StampedCandidate[],
  lostReservations: ReadonlySet<StampedCandidate>,
): Promise<readonly AcceptResult[]> {
  const facts = await loadFacts(tx, candidates, lostReservations)
  const refusals = await checkSends(tx, candidates, facts)
  const accepted = new Map(
    candidates
      .filter(candidate => !refusals.has(candidate))
      .map(candidate => [candidate, acceptedEmail(candidate, facts)] as const),
  )
  await Promise.all([storeAcceptedResponses(tx, accepted), enqueue(tx, deps, accepted, facts)])
  for (const { consumes } of accepted.keys()) await consumes?.remove(tx)
  return candidates.map(candidate => toResult(accepted.get(candidate), refusals.get(candidate)))
}

function toResult(accepted: AcceptedEmail | undefined, refusal: Refusal | undefined): AcceptResult {
  if (accepted) return { kind: 'accepted', accepted }
  if (refusal) return { kind: 'refused', refusal }
  throw new Error('a send was neither accepted nor refused')
}

/** Stores the responses that repeated requests will get. @throws ReservationsLostError */
async function storeAcceptedResponses(tx: Db, accepted: ReadonlyMap<StampedCandidate, AcceptedEmail>): Promise<void> {
  const responses = [...accepted].flatMap(([candidate, email]) => {
    const { reservation } = candidate
    return reservation ? [{ candidate, response: { reservation, status: 202, body: acceptedResponseBody(email) } }] : []
  })
  if (responses.length === 0) return
  const isStored = await storeResponses(
    tx,
    responses.map(({ response }) => response),
  )
  const lost = responses.filter((_, i) => !isStored[i]).map(({ candidate }) => candidate)
  if (lost.length > 0) throw new ReservationsLostError(lost)
}

/** Writes the accepted emails: their threads, messages, recipients, events and outbox rows. Counts them against the quotas. */
async function enqueue(
  tx: Db,
  { blobs, provider }: AcceptDeps,
  accepted: ReadonlyMap<StampedCandidate, AcceptedEmail>,
  facts: AcceptanceFacts,
): Promise<void> {
  if (accepted.size === 0) return
  const candidates = [...accepted.keys()]
  const [threads, blobIds] = await Promise.all([
    joinThreads(
      tx,
      candidates.map(({ domain, threadId, emailId, messageId, email }) => ({
        brandId: domain.brandId,
        itemId: threadId ?? emailId,
        messageId,
        references: referencesOf(email.headers),
        emailId,
      })),
    ),
    storeStagedMessages(tx, blobs, candidates),
  ])
  const rows = Array.from(accepted, ([candidate, email], i) => {
    const blobId = blobIds[i]
    if (blobId === undefined) throw new Error('a message was not stored')
    return emailRows(candidate, email, { threadId: threads[i]?.threadId ?? candidate.emailId, provider, blobId })
  })
  await Promise.all([
    insertEmails(tx, rows),
    appendEvents(tx, rows.flatMap(acceptedFeedEvents)),
    countSends(tx, candidates, facts),
  ])
}
