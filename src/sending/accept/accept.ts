import { consumeQuota, monthOf } from '../../accounts/organizations/quota.ts'
import { reservationLost, storeResponses } from '../../api/idempotency/store.ts'
import { type Clock, type Instant, instantAt, microsecondsOf } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Refusal } from '../../base/refusal.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { joinThreads } from '../threads/threads.ts'
import {
  type AcceptedEmail,
  acceptedEmail,
  acceptedResponseBody,
  checkedSend,
  emailRows,
  type SendCandidate,
  type StampedCandidate,
} from './accepted.ts'
import { type AcceptanceFacts, refuseOverQuota, runChecks, suppressionSets } from './checks.ts'
import { referencesOf } from './headers.ts'
import { insertEmails, lockDomains, selectSuppressed } from './table.ts'

type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly accepted: AcceptedEmail }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

const maxTries = 12

export interface AcceptDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly clock: Clock
  /** The name of the provider that will deliver. */
  readonly provider: string
}

/**
 * Accepts sends: those that come at the same time pass the gate and are written in one transaction. What it gave is
 * durable. The function throws the send's own refusal.
 */
export function openQueue(deps: AcceptDeps): (send: SendCandidate) => Promise<AcceptedEmail> {
  const stamps = uniqueInstants(deps.clock)
  const accept = batched<SendCandidate, AcceptOutcome>({ maxItems: 32, maxInFlight: 1 }, async sends => {
    for (let attempt = 1; ; attempt++) {
      const stamped = sends.map(send => ({ ...send, createdAt: stamps.next() }))
      try {
        return await acceptAll(deps, stamped)
      } catch (error) {
        if (attempt === maxTries || !isDuplicate(error, 'emails_created')) throw error
        stamps.leap(attempt)
      }
    }
  })
  return async send => {
    const outcome = await accept(send)
    switch (outcome.kind) {
      case 'accepted':
        return outcome.accepted
      case 'refused':
        throw outcome.refusal
      default:
        return outcome satisfies never
    }
  }
}

/** Instants of which no two are the same, at or after the clock's. Another process may still give the same. */
function uniqueInstants(clock: Clock) {
  let last = 0
  return {
    next(): Instant {
      const now = microsecondsOf(clock.now())
      // A clock that was set back by more than a minute is followed.
      last = now > last || now < last - 60_000_000 ? now : last + 1
      return instantAt(last)
    },
    /** After a collision: past where the others are, by a different step for each of them. */
    leap(attempt: number): void {
      last += Math.ceil(Math.random() * 20 * 2 ** attempt)
    },
  }
}

async function acceptAll(deps: AcceptDeps, sends: readonly StampedCandidate[]): Promise<readonly AcceptOutcome[]> {
  const lost = new Set<StampedCandidate>()
  for (;;) {
    try {
      return await inTransaction(deps.db, tx => acceptIn({ ...deps, db: tx }, sends, lost))
    } catch (error) {
      // The whole is done again without those whose reservation went to another.
      if (!(error instanceof ReservationsLostError)) throw error
      for (const send of error.sends) lost.add(send)
    }
  }
}

async function acceptIn(
  deps: AcceptDeps,
  sends: readonly StampedCandidate[],
  lost: ReadonlySet<StampedCandidate>,
): Promise<readonly AcceptOutcome[]> {
  const { db } = deps
  const facts = await loadFacts(db, sends)
  const refusals = new Map<StampedCandidate, Refusal>()
  for (const send of sends) {
    const refusal = lost.has(send) ? reservationLost() : runChecks(checkedSend(send), facts)
    if (refusal) refusals.set(send, refusal)
  }
  for (const send of await findDeprived(
    db,
    sends.filter(send => !refusals.has(send)),
  ))
    if (send.consumes) refusals.set(send, send.consumes.refuse())
  const gated = sends.filter(send => !refusals.has(send))
  const granted = await countAll(db, gated, facts)
  gated.forEach((send, i) => {
    if (!granted[i]) refusals.set(send, refuseOverQuota(send.quotaStatus))
  })
  const accepted = new Map(gated.filter((_, i) => granted[i]).map(send => [send, acceptedEmail(send, facts)]))
  await storeAll(db, accepted)
  await writeAll(deps, accepted)
  for (const { consumes } of accepted.keys()) await consumes?.remove(db)
  return sends.map((send): AcceptOutcome => {
    const passed = accepted.get(send)
    return passed
      ? { kind: 'accepted', accepted: passed }
      : { kind: 'refused', refusal: refusals.get(send) ?? reservationLost() }
  })
}

/** The sends that cannot have what they use up; of several that want the same the first gets it. */
async function findDeprived(db: Db, sends: readonly StampedCandidate[]): Promise<readonly StampedCandidate[]> {
  const held = new Set<string>()
  const deprived: StampedCandidate[] = []
  // In one order, so that two transactions never wait for each other.
  const wanting = sends.flatMap(send => (send.consumes ? [{ send, wanted: send.consumes }] : []))
  for (const { send, wanted } of wanting.sort((a, b) => (a.wanted.id < b.wanted.id ? -1 : 1))) {
    if (!held.has(wanted.id) && (await wanted.lock(db))) held.add(wanted.id)
    else deprived.push(send)
  }
  return deprived
}

async function loadFacts(db: Db, sends: readonly StampedCandidate[]): Promise<AcceptanceFacts> {
  const domains = await lockDomains(
    db,
    sends.map(send => send.domain.id),
  )
  const candidates = sends.flatMap(({ domain, recipients }) =>
    recipients.map(({ email }) => ({ brandId: domain.brandId, email: email.toLowerCase() })),
  )
  const now = sends[0]?.createdAt
  const suppressed = now === undefined ? [] : await selectSuppressed(db, candidates, now)
  return {
    readyDomains: new Set(domains.filter(domain => domain.status === 'verified').map(domain => domain.id)),
    pausedDomains: new Map(
      domains.flatMap(domain => (domain.pauseReason === null ? [] : [[domain.id, domain.pauseReason] as const])),
    ),
    plans: new Map(domains.map(domain => [domain.organizationId, domain.plan])),
    ...suppressionSets(suppressed),
  }
}

/** Each counts in the month in which it is accepted; only around midnight may a batch know two of them. */
async function countAll(
  db: Db,
  sends: readonly StampedCandidate[],
  { plans }: AcceptanceFacts,
): Promise<readonly boolean[]> {
  const granted = new Map<StampedCandidate, boolean>()
  for (const of of Map.groupBy(sends, send => monthOf(send.createdAt)).values()) {
    const at = of[0]?.createdAt
    if (at === undefined) continue
    const takes = of.map(({ sender: { organizationId } }) => ({
      organizationId,
      plan: plans.get(organizationId) ?? 'free',
      count: 1,
    }))
    const answers = await consumeQuota(db, takes, at)
    of.forEach((send, i) => {
      granted.set(send, answers[i] ?? false)
    })
  }
  return sends.map(send => granted.get(send) ?? false)
}

class ReservationsLostError extends Error {
  readonly sends: readonly StampedCandidate[]
  constructor(sends: readonly StampedCandidate[]) {
    super('an Idempotency-Key is held by another request')
    this.sends = sends
  }
}

/** The answers that repeated requests will get, under the reservations that are still held. */
async function storeAll(db: Db, accepted: ReadonlyMap<StampedCandidate, AcceptedEmail>): Promise<void> {
  const answers = [...accepted].flatMap(([send, each]) =>
    send.reservation
      ? [
          {
            send,
            answer: {
              reservation: send.reservation,
              status: 202,
              body: acceptedResponseBody(each),
              at: send.createdAt,
            },
          },
        ]
      : [],
  )
  if (answers.length === 0) return
  const stored = await storeResponses(
    db,
    answers.map(answer => answer.answer),
  )
  const lost = answers.filter((_, i) => !stored[i]).map(answer => answer.send)
  if (lost.length > 0) throw new ReservationsLostError(lost)
}

async function writeAll(
  { db, blobs, provider }: AcceptDeps,
  accepted: ReadonlyMap<StampedCandidate, AcceptedEmail>,
): Promise<void> {
  if (accepted.size === 0) return
  const threads = await joinThreads(
    db,
    Array.from(accepted.keys(), send => ({
      brandId: send.domain.brandId,
      itemId: send.threadId ?? send.emailId,
      messageId: send.messageId,
      references: referencesOf(send.outgoing.headers),
      emailId: send.emailId,
    })),
  )
  const blobIds = await storeMessages(db, blobs, [...accepted.keys()])
  const rows = Array.from(accepted, ([send, each], i) =>
    emailRows(send, each, {
      threadId: threads[i]?.threadId ?? send.emailId,
      provider,
      blobId: blobIds[i] ?? unstored(),
    }),
  )
  await insertEmails(db, rows)
}

/** The blobs of the messages; those that are not stored yet are stored now. */
async function storeMessages(
  db: Db,
  blobs: BlobStore,
  sends: readonly StampedCandidate[],
): Promise<readonly Id<'blb'>[]> {
  const fresh = sends.flatMap(({ sender: { organizationId }, message }) =>
    message.kind === 'new' ? [{ organizationId, bytes: message.bytes }] : [],
  )
  const stored = fresh.length > 0 ? (await blobs.storeWithin(db, fresh)).values() : [].values()
  return sends.map(({ message }) =>
    message.kind === 'stored' ? message.blobId : (stored.next().value?.id ?? unstored()),
  )
}

function unstored(): never {
  throw new Error('a message was not stored')
}
