import { type Clock, dayMs, type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import { newToken } from '../../base/secrets/token.ts'
import { insertLoginLink } from './login-links-table.ts'

const validMs = dayMs

/** Whom a login link signs in: a member of an organization, or a person who need not be one. */
export type LoginLinkSubject = { readonly memberId: Id<'mem'> } | { readonly userId: Id<'usr'> }

/** A link that signs one person in, once, without any factor. */
export interface LoginLink {
  /** Only its SHA-256 is stored: it cannot be shown again. */
  readonly token: string
  readonly expiresAt: Instant
}

/**
 * Creates a login link: 256 random bits, good for one sign-in within 24 hours. Whoever makes one records it in the audit log,
 * in the same transaction.
 */
export async function createLoginLink(db: Db, subject: LoginLinkSubject, clock: Clock): Promise<LoginLink> {
  const { token, hash } = newToken()
  const at = clock.now()
  const expiresAt = plusMs(at, validMs)
  await insertLoginLink(db, {
    id: newId('lnk'),
    token_hash: hash,
    member_id: 'memberId' in subject ? subject.memberId : null,
    user_id: 'userId' in subject ? subject.userId : null,
    created_at: at,
    expires_at: expiresAt,
    used_at: null,
  })
  return { token, expiresAt }
}

/**
 * The address of the page that takes the link. The token is in the fragment, so that no log of a server or proxy has it.
 * @param publicUrl without a final slash
 */
export function loginLinkUrl(publicUrl: string, { token }: Pick<LoginLink, 'token'>): string {
  return `${publicUrl}/app/welcome#${token}`
}
