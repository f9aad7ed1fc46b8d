import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import { insertUser, type UserRow } from './table.ts'

/** Someone who gets an account. */
export interface NewUser {
  /** In the form of `canonicalEmail`; no other user has it. */
  readonly email: string
  readonly name: string
}

/** Inserts a user without any factor: a link signs them in for the first time. */
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
  await insertUser(db, row)
  return row
}
