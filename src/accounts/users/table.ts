import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type UserRow = DatabaseSchema['users']

const userColumns = [
  'id',
  'email',
  'name',
  'password_hash',
  'totp_secret',
  'totp_sealed_by',
  'totp_step',
  'created_at',
  'last_sign_in_at',
] as const

export async function insertUser(db: Db, row: UserRow): Promise<void> {
  await db.insertInto('users').values(row).execute()
}

export function selectUser(db: Db, id: Id<'usr'>): Promise<UserRow | undefined> {
  return db.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst()
}

/** @param email in the form of `canonicalEmail` */
export function selectUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db.selectFrom('users').select(userColumns).where('email', '=', email).executeTakeFirst()
}

/** The user, locked until the transaction ends: changes of their factors wait for each other. */
export function lockUser(db: Db, id: Id<'usr'>): Promise<UserRow | undefined> {
  return db.selectFrom('users').select(userColumns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function updateUser(
  db: Db,
  id: Id<'usr'>,
  change: Partial<Omit<UserRow, 'id' | 'email' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('users').set(change).where('id', '=', id).execute()
}

/** Has anybody ever signed in? */
export async function hasAnySignIn(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('last_sign_in_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Notes the time step of an authenticator's code. False when this one, or a later one, was taken before. */
export async function updateTotpStep(db: Db, id: Id<'usr'>, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ totp_step: step })
    .where('id', '=', id)
    .where(where => where.or([where('totp_step', 'is', null), where('totp_step', '<', step)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Does anybody have an account? */
export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** An operator, with what identifies the person. */
export interface OperatorRow extends Pick<UserRow, 'email' | 'name' | 'last_sign_in_at'> {
  readonly user_id: Id<'usr'>
  /** Since when they are an operator. */
  readonly created_at: Instant
}

export function selectOperators(db: Db): Promise<OperatorRow[]> {
  return db
    .selectFrom('operators')
    .innerJoin('users', 'users.id', 'operators.user_id')
    .select(['operators.user_id', 'operators.created_at', 'users.email', 'users.name', 'users.last_sign_in_at'])
    .orderBy('users.email')
    .execute()
}

/** False when the user is an operator already. */
export async function insertOperator(db: Db, row: DatabaseSchema['operators']): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db.insertInto('operators').ignore().values(row).executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** False when the user is no operator. */
export async function deleteOperator(db: Db, userId: Id<'usr'>): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('operators').where('user_id', '=', userId).executeTakeFirst()
  return numDeletedRows > 0n
}
