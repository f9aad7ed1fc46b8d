import { type Instant, millisecondsOf } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import type { SealedSecret, Secrets } from '../../base/secrets/secrets.ts'
import type { UserRow } from './table.ts'

const stepSeconds = 30

/** Loaded with the first code: few restarts see one. */
const loadOtplib = () => import('otplib')

/** 160 bits in base32, as an authenticator takes them. */
export const authenticatorSecretPattern = '^[A-Z2-7]{32}$'

/** A secret for an authenticator (TOTP, RFC 6238), not stored yet. */
export interface NewAuthenticator {
  /** Base32, for whoever types it. */
  readonly secret: string
  /** `otpauth://…`, for a QR code. */
  readonly uri: string
}

/** @param host what tells this account from others in the authenticator */
export async function newAuthenticator(email: string, host: string): Promise<NewAuthenticator> {
  const { generateSecret, generateURI } = await loadOtplib()
  const secret = generateSecret()
  return { secret, uri: generateURI({ issuer: `Mailroom ${host}`, label: email, secret }) }
}

/** The time step of a code that the authenticator shows now, or showed or will show within a step; undefined: it is wrong. */
export async function verifyAuthenticatorCode(secret: string, code: string, now: Instant): Promise<number | undefined> {
  if (!/^\d{6}$/.test(code)) return undefined
  const { verify } = await loadOtplib()
  const epoch = Math.floor(millisecondsOf(now) / 1000)
  const result = await verify({ secret, token: code, epoch, epochTolerance: stepSeconds })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}

/** The secret in the form of the user's row. It can be opened for this user only. */
export function sealAuthenticator(
  secrets: Secrets,
  userId: Id<'usr'>,
  secret: string,
): Pick<UserRow, 'totp_secret' | 'totp_sealed_by'> {
  const sealed = secrets.seal(secret, placeOf(userId))
  return { totp_secret: sealed.text, totp_sealed_by: sealed.keyId }
}

/** undefined: the user has no authenticator. */
export function openAuthenticator(
  secrets: Secrets,
  { id, totp_secret: text, totp_sealed_by: keyId }: UserRow,
): string | undefined {
  if (text === null || keyId === null) return undefined
  const sealed: SealedSecret = { keyId, text }
  return secrets.open(sealed, placeOf(id))
}

function placeOf(userId: Id<'usr'>): string {
  return `authenticator of ${userId}`
}
