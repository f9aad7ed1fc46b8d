import type { Clock } from '../../base/clock.ts'
import { type Db, isDuplicate } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { insertUser, type UserRow } from './table.ts'

/** Someone who gets an account. */
export interface NewUser {
  /** In the form of `canonicalEmail`. */
  readonly email: string
  readonly name: string
}

/** The refusals of {@link addUser}. */
export const accountExistsRefusals = ['account_exists'] as const

/** Inserts a user without any factor: a link signs them in for the first time. @throws Refusal `account_exists` */
export async function addUser(db: Db, { email, name }: NewUser, clock: Clock): Promise<UserRow> {
  const row: UserRow = {
    id: newId('usr'),
    email,
    name,
    password_hash: null,
    totp_secret: null,
    totp_sealed_by: null,
    totp_step: null,
    created_at: clock.now(),
    last_sign_in_at: null,
  }
  try {
    await insertUser(db, row)
  } catch (error) {
    if (isDuplicate(error, 'users_email')) throw accountExists(email)
    throw error
  }
  return row
}

/** The refusal of an email that is an account's: only who is signed in to it may act as this person. */
export function accountExists(email: string) {
  return refuse('account_exists', {
    message: `${email} has an account here already: sign in to it, then open the link again.`,
  })
}
