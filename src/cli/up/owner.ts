import { addMember } from '../../accounts/members/members.ts'
import { selectMemberByEmail, updateMemberUser } from '../../accounts/members/table.ts'
import { createLoginLink, type LoginLink } from '../../accounts/sessions/login-links.ts'
import { addOperator } from '../../accounts/users/operators.ts'
import { hasAnySignIn } from '../../accounts/users/table.ts'
import { systemClock } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** Who owns the demo organization, and operates the instance. */
export const demoOwner = 'hello@demo.test'

/**
 * A link that signs the demo's owner in, whom it creates where there is none; null once somebody has signed in. Each start
 * makes another, since only the hash of the one before is stored.
 */
export async function createDemoOwnerLink(db: Db, organizationId: Id<'org'>): Promise<LoginLink | null> {
  if (await hasAnySignIn(db)) return null
  return inTransaction(db, async tx => {
    const { userId } = await addOperator(tx, demoOwner, systemClock)
    const owner = { organizationId, email: demoOwner, name: 'Demo', access: { role: 'owner' } } as const
    const member =
      (await selectMemberByEmail(tx, organizationId, demoOwner)) ?? (await addMember(tx, owner, systemClock))
    await updateMemberUser(tx, member.id, userId)
    return createLoginLink(tx, { memberId: member.id }, systemClock)
  })
}
