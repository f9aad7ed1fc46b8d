import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findOrganization } from '../../accounts/organizations/organizations.ts'
import type { ConditionalChange } from '../../api/if-updated-at.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type PolicyScope, type RetentionChange, setRetentionPolicy } from './policies.ts'
import { selectBrandOrganization } from './table.ts'

/** The longest retention time that can be set; longer is forever. */
export const maxRetentionDays = 36_500

export interface RetentionChangeOptions extends ConditionalChange {
  /** Whose audit log shows it; absent: that of the instance. */
  readonly organizationId?: Id<'org'>
}

/**
 * Sets a retention time, or removes the one that was set. False: there is no such organization or brand.
 * @throws Refusal `invalid_request` for a brand, where the kind is the organization's; `changed_since_read`
 */
export async function changeRetentionPolicy(
  db: Db,
  operator: Operator,
  { scope, kind, days }: RetentionChange,
  { organizationId, ...condition }: RetentionChangeOptions = {},
): Promise<boolean> {
  if (kind === 'event_feed' && isId('brd', scope))
    throw refuse('invalid_request', {
      message: 'The feed of events is one for all brands of an organization: set event_feed for the organization.',
      param: 'kind',
    })
  if (!(await scopeExists(db, scope))) return false
  await inTransaction(db, async tx => {
    const isChanged = await setRetentionPolicy({ db: tx, clock: operator.clock }, scope, kind, days, condition)
    if (!isChanged) return
    const entry = { action: 'retention.set', subject: scope, detail: { kind, days } }
    await recordAuditEntry(tx, operator, organizationId === undefined ? entry : { ...entry, organizationId })
  })
  return true
}

async function scopeExists(db: Db, scope: PolicyScope): Promise<boolean> {
  if (scope === 'instance') return true
  if (isId('org', scope)) return (await findOrganization(db, scope)) !== undefined
  return (await selectBrandOrganization(db, scope)) !== undefined
}
