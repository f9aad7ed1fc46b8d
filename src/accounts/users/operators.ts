import type { Clock, Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type Operator, recordAuditEntry } from '../audit/audit.ts'
import { createLoginLink, type LoginLink } from '../sessions/login-links.ts'
import { deleteOperator, insertOperator, selectOperators, selectUserByEmail } from './table.ts'
import { addUser } from './users.ts'

/** A person who may use the instance's screens. */
export interface OperatorAccount {
  readonly userId: Id<'usr'>
  readonly email: string
  readonly name: string
  /** Since when they are an operator. */
  readonly since: Instant
  /** null: they never signed in. */
  readonly lastSignInAt: Instant | null
}

/** The person who was named an operator. */
export interface AddedOperator {
  readonly userId: Id<'usr'>
  readonly email: string
  /**
   * The name in the account. An account's address is what its owner typed: where it existed before, whoever names an operator
   * should see whose it is.
   */
  readonly name: string
  /** When the account was created. */
  readonly accountCreatedAt: Instant
  /** They were one already. */
  readonly wasOperator: boolean
  /** Signs them in for the first time; null: they have signed in before, and do so with their own factors. */
  readonly link: LoginLink | null
}

/**
 * Makes the person with this email an operator, in the caller's transaction, and gives them an account where they have none.
 * @param email in the form of `canonicalEmail`
 */
export async function addOperator(db: Db, email: string, clock: Clock): Promise<AddedOperator> {
  const user = (await selectUserByEmail(db, email)) ?? (await addUser(db, { email, name: email }, clock))
  const isAdded = await insertOperator(db, { user_id: user.id, created_at: clock.now() })
  return {
    userId: user.id,
    email,
    name: user.name,
    accountCreatedAt: user.created_at,
    wasOperator: !isAdded,
    link: user.last_sign_in_at === null ? await createLoginLink(db, { userId: user.id }, clock) : null,
  }
}

/**
 * From the next request on the person with this email is no operator; their account stays. Writes the audit entry.
 * Resolves to the id of their account; undefined: no operator has this email.
 */
export function removeOperator(db: Db, operator: Operator, email: string): Promise<Id<'usr'> | undefined> {
  return inTransaction(db, async tx => {
    const user = await selectUserByEmail(tx, email)
    if (!user || !(await deleteOperator(tx, user.id))) return undefined
    await recordAuditEntry(tx, operator, { action: 'operator.remove', subject: user.id, detail: { email } })
    return user.id
  })
}

/** All operators, by email. */
export async function listOperators(db: Db): Promise<readonly OperatorAccount[]> {
  return (await selectOperators(db)).map(row => ({
    userId: row.user_id,
    email: row.email,
    name: row.name,
    since: row.created_at,
    lastSignInAt: row.last_sign_in_at,
  }))
}
