import { createHash } from 'node:crypto'
import { clientNetwork } from '../../base/client-network.ts'
import { type Clock, dayMs, type Instant, microsecondsOf, minuteMs, plusMs, secondMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { deleteFailures, deleteOldFailures, lockFailures, undoFailure, updateFailures } from './attempts-table.ts'

const longestWaitMs = 15 * minuteMs
/** Failures are forgotten when none was added for so long. */
const rememberMs = dayMs
/** So many failures of one network make nobody wait: several people may share its address. */
const freeOfNetwork = 10

/** The refusals of {@link beginAttempt}. */
export const attemptRefusals = ['too_many_attempts'] as const

/** Whose failures make an attempt wait. */
export type AttemptSubject =
  /** Attempts of one client network, an IPv4 address or an IPv6 /64. */
  | { readonly network: string }
  /** Attempts to sign in as this email, whoever has it. */
  | { readonly account: string }
  /** Attempts of a browser in which the person has signed in before. */
  | { readonly device: string }
  /** Attempts to confirm, in this session, who it is. */
  | { readonly session: string }

/** An attempt that was counted as a failure until something else is known of it. */
export interface Attempt {
  /** It succeeded: the subject's failures are forgotten, except those of a network, which anybody could clear so. */
  succeed(db: Db): Promise<void>
  /** It was no guess: it does not count. */
  discount(db: Db): Promise<void>
}

/**
 * Begins an attempt to prove who somebody is. It counts as a failure from now on, so that many at once are as slow as one
 * after the other. After a failure comes a wait of 1 s, which doubles with each further one, to 15 minutes; an attempt during
 * the wait is refused and counts for nothing.
 * @throws Refusal `too_many_attempts`
 */
export async function beginAttempt(db: Db, subjects: readonly AttemptSubject[], clock: Clock): Promise<Attempt> {
  const counted = subjects.map(subject => ({
    hash: hashSubject(subject),
    free: 'network' in subject ? freeOfNetwork : 0,
  }))
  // In one order, so that two attempts never wait for each other.
  counted.sort((a, b) => Buffer.compare(a.hash, b.hash))
  const times = await inTransaction(db, async tx => {
    const at = clock.now()
    const before = new Map<Buffer, Instant>()
    for (const { hash, free } of counted) {
      const { failures, last_at } = await lockFailures(tx, hash, at)
      const past = plusMs(last_at, rememberMs) <= at ? 0 : failures
      requireWaited(plusMs(last_at, waitMs(past - free)), at)
      await updateFailures(tx, hash, { failures: past + 1, last_at: at })
      before.set(hash, last_at)
    }
    return { at, before }
  })
  const undo = (tx: Db, hash: Buffer) =>
    undoFailure(tx, hash, { at: times.at, before: times.before.get(hash) ?? times.at })
  return {
    async succeed(tx) {
      for (const { hash, free } of counted) await (free > 0 ? undo(tx, hash) : deleteFailures(tx, hash))
    },
    async discount(tx) {
      for (const { hash } of counted) await undo(tx, hash)
    },
  }
}

function waitMs(failures: number): number {
  return failures <= 0 ? 0 : Math.min(secondMs * 2 ** (failures - 1), longestWaitMs)
}

function requireWaited(until: Instant, now: Instant): void {
  if (until <= now) return
  const seconds = Math.ceil((microsecondsOf(until) - microsecondsOf(now)) / 1_000_000)
  throw refuse('too_many_attempts', {
    message: `Too many attempts failed: wait ${seconds === 1 ? 'a second' : `${seconds} seconds`}, then try again.`,
    retryAfterSeconds: seconds,
  })
}

/** Deletes up to `most` rows of failures that are forgotten; resolves to how many. */
export function deleteForgottenFailures(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  most: number,
): Promise<number> {
  return deleteOldFailures(db, plusMs(clock.now(), -rememberMs), most)
}

function hashSubject(subject: AttemptSubject): Buffer {
  const text =
    'network' in subject ? `network ${clientNetwork(subject.network)}` : Object.entries(subject).flat().join(' ')
  return createHash('sha256').update(text).digest()
}
