import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { openAuthenticator, verifyAuthenticatorCode } from './authenticator.ts'
import { takeBackupCode } from './backup-codes.ts'
import { type UserRow, updateTotpStep } from './table.ts'

/** What a person can prove with who they are. */
export interface Credentials {
  readonly hasPassword: boolean
  readonly hasAuthenticator: boolean
  readonly hasPasskey: boolean
}

export function credentialsOf(user: UserRow, passkeys: readonly unknown[]): Credentials {
  return {
    hasPassword: user.password_hash !== null,
    hasAuthenticator: user.totp_secret !== null,
    hasPasskey: passkeys.length > 0,
  }
}

/**
 * Must a code come with the password? Whoever has an authenticator needs it always. Whoever has a passkey only signs in with
 * that, or with a backup code beside the password; on localhost the password alone will do.
 */
export function wantsCode({ hasAuthenticator, hasPasskey }: Credentials, isLocalhost: boolean): boolean {
  return hasAuthenticator || (hasPasskey && !isLocalhost)
}

/**
 * Takes a code of the person's authenticator, or one of their backup codes, in the caller's transaction: each is good once.
 * Resolves to what it was; undefined: it is wrong, or was used before.
 */
export async function takeCode(
  db: Db,
  { secrets, clock }: { readonly secrets: Secrets; readonly clock: Clock },
  user: UserRow,
  code: string,
): Promise<'authenticator' | 'backup_code' | undefined> {
  const secret = openAuthenticator(secrets, user)
  const step = secret === undefined ? undefined : await verifyAuthenticatorCode(secret, code.trim(), clock.now())
  if (step !== undefined) return (await updateTotpStep(db, user.id, step)) ? 'authenticator' : undefined
  return (await takeBackupCode(db, user.id, code)) ? 'backup_code' : undefined
}
