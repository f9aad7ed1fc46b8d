import { ensureOwner } from '../../accounts/organizations/owners.ts'
import type { LoginLink } from '../../accounts/sessions/login-links.ts'
import { hasAnySignIn } from '../../accounts/users/table.ts'
import { systemClock } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** Who owns the demo organization, and operates the instance. */
const email = 'hello@demo.test'

/**
 * A link that signs the demo's owner in, whom it creates where there is none; null once somebody has signed in. Each start
 * makes another, since only the hash of the one before is stored.
 */
export async function createDemoOwnerLink(db: Db, organizationId: Id<'org'>): Promise<LoginLink | null> {
  if (await hasAnySignIn(db)) return null
  const owner = { organizationId, email, isOperator: true }
  return (await inTransaction(db, tx => ensureOwner(tx, owner, systemClock))).link
}
