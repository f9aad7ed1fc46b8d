import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, type Instant, instantAt, millisecondsOf, minuteMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { insertAnsweredChallenge } from './factors-table.ts'

/** Until then a challenge can be answered. */
export const challengeValidMs = 5 * minuteMs
const nonceBytes = 16
const timeBytes = 6
const signedBytes = nonceBytes + timeBytes

/**
 * What a challenge may be answered for: `sign-in`, or something in one session. An answer for one purpose is none for another.
 */
export type ChallengePurpose = 'sign-in' | `${'confirm' | 'add'} ses_${string}`

/** A challenge that was sent back in an answer. */
export interface OpenedChallenge {
  readonly hash: Buffer
  readonly expiresAt: Instant
}

interface ChallengeDeps {
  readonly secrets: Secrets
  readonly clock: Clock
}

/**
 * A WebAuthn challenge: random, with its expiry, signed with a key of ours. Nothing is stored until it is answered, so that
 * asking for challenges costs nothing.
 */
export function newChallenge({ secrets, clock }: ChallengeDeps, purpose: ChallengePurpose): Uint8Array<ArrayBuffer> {
  const signed = Buffer.alloc(signedBytes)
  randomBytes(nonceBytes).copy(signed)
  signed.writeUIntBE(millisecondsOf(clock.now()) + challengeValidMs, nonceBytes, timeBytes)
  const [key] = keysOf(secrets)
  if (!key) throw new Error('there is no secret key')
  return new Uint8Array(Buffer.concat([signed, sign(key, signed, purpose)]))
}

/**
 * @param challenge in base64url
 * @returns undefined: it is not one of ours, is for another purpose, or has expired
 */
export function openChallenge(
  { secrets, clock }: ChallengeDeps,
  challenge: string,
  purpose: ChallengePurpose,
): OpenedChallenge | undefined {
  const bytes = Buffer.from(challenge, 'base64url')
  const signed = bytes.subarray(0, signedBytes)
  const signature = bytes.subarray(signedBytes)
  if (signed.length < signedBytes || !keysOf(secrets).some(key => equal(signature, sign(key, signed, purpose)))) return
  const expiresAt = instantAt(signed.readUIntBE(nonceBytes, timeBytes) * 1000)
  if (expiresAt <= clock.now()) return undefined
  return { hash: createHash('sha256').update(bytes).digest(), expiresAt }
}

/** Notes that the challenge was answered, in the transaction that acts on it. False: it was answered before. */
export function closeChallenge(db: Db, { hash, expiresAt }: OpenedChallenge): Promise<boolean> {
  return insertAnsweredChallenge(db, { challenge_hash: hash, expires_at: expiresAt })
}

function keysOf(secrets: Secrets): readonly Buffer[] {
  return secrets.derive('passkey challenges')
}

function sign(key: Buffer, signed: Buffer, purpose: ChallengePurpose): Buffer {
  return createHmac('sha256', key).update(signed).update(purpose).digest()
}

function equal(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
