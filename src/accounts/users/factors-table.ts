import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type PasskeyRow = DatabaseSchema['passkeys']

const passkeyColumns = [
  'id',
  'user_id',
  'name',
  'credential_id',
  'public_key',
  'sign_count',
  'transports',
  'host',
  'created_at',
  'last_used_at',
] as const

export async function insertPasskey(db: Db, row: PasskeyRow): Promise<void> {
  await db.insertInto('passkeys').values(row).execute()
}

/** The person's passkeys, oldest first. */
export function selectPasskeys(db: Db, userId: Id<'usr'>): Promise<PasskeyRow[]> {
  return db.selectFrom('passkeys').select(passkeyColumns).where('user_id', '=', userId).orderBy('id').execute()
}

/** The passkey with this credential, of any person: the credential says who it is. */
export function selectPasskeyByCredential(db: Db, credentialId: Buffer): Promise<PasskeyRow | undefined> {
  return db.selectFrom('passkeys').select(passkeyColumns).where('credential_id', '=', credentialId).executeTakeFirst()
}

export async function updatePasskeyUsed(
  db: Db,
  id: Id<'pky'>,
  change: Pick<PasskeyRow, 'sign_count' | 'last_used_at'>,
): Promise<void> {
  await db.updateTable('passkeys').set(change).where('id', '=', id).execute()
}

/** False when the person has no such passkey. */
export async function deletePasskey(db: Db, userId: Id<'usr'>, id: Id<'pky'>): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Notes that a challenge was answered. False when it was before. */
export async function insertAnsweredChallenge(db: Db, row: DatabaseSchema['passkey_challenges']): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('passkey_challenges')
    .ignore()
    .values(row)
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** Deletes up to `most` challenges that have expired; resolves to how many. */
export async function deleteExpiredChallenges(db: Db, now: Instant, most: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('passkey_challenges')
    .where('expires_at', '<=', now)
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Replaces the person's backup codes; without hashes they have none any more. */
export async function replaceBackupCodes(db: Db, userId: Id<'usr'>, hashes: readonly Buffer[]): Promise<void> {
  await db.deleteFrom('backup_codes').where('user_id', '=', userId).execute()
  if (hashes.length > 0)
    await db
      .insertInto('backup_codes')
      .values(hashes.map(code_hash => ({ user_id: userId, code_hash })))
      .execute()
}

/** False when the person has no such code. */
export async function deleteBackupCode(db: Db, userId: Id<'usr'>, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('backup_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function countBackupCodes(db: Db, userId: Id<'usr'>): Promise<number> {
  const { count } = await db
    .selectFrom('backup_codes')
    .select(select => select.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(count)
}
