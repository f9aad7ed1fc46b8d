import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findOrganization } from '../../accounts/organizations/organizations.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import type { RetentionDays, RetentionKind } from './kinds.ts'
import { type PolicyScope, setRetentionPolicy } from './policies.ts'
import { selectBrandOrganization } from './table.ts'

/** The longest retention time that can be set; longer is forever. */
export const maxRetentionDays = 36_500

export interface PolicyChange {
  readonly scope: PolicyScope
  readonly kind: RetentionKind
  readonly days: RetentionDays | 'inherit'
}

/** Sets a retention time, or removes the one that was set, for an operator. False: there is no such organization or brand. */
export async function changeRetentionPolicy(
  db: Db,
  operator: Operator,
  { scope, kind, days }: PolicyChange,
): Promise<boolean> {
  if (!(await scopeExists(db, scope))) return false
  await inTransaction(db, async tx => {
    await setRetentionPolicy({ db: tx, clock: operator.clock }, scope, kind, days)
    await recordAuditEntry(tx, operator, { action: 'retention.set', subject: scope, detail: { kind, days } })
  })
  return true
}

async function scopeExists(db: Db, scope: PolicyScope): Promise<boolean> {
  if (scope === 'instance') return true
  if (isId('org', scope)) return (await findOrganization(db, scope)) !== undefined
  return (await selectBrandOrganization(db, scope)) !== undefined
}
