import { createHash, randomBytes } from 'node:crypto'

/** A secret for a link or a cookie, and the form in which it is stored. */
export interface NewToken {
  /** 256 random bits, 43 characters of base64url. */
  readonly token: string
  /** SHA-256. */
  readonly hash: Buffer
}

export function newToken(): NewToken {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashToken(token) }
}

/** The stored form of a token: its SHA-256. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
