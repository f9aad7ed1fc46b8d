import type { ConditionalChange } from '../../api/if-updated-at.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type Operator, recordAuditEntry } from '../audit/audit.ts'
import { type CreatedKey, createKey, type NewKey } from '../keys/keys.ts'
import { changeOrganization, createOrganization, type NewOrganization } from './organizations.ts'
import { type EnsuredOwner, ensureOwner, type OwnerRequest } from './owners.ts'
import type { Plan } from './quota.ts'
import type { OrganizationRow } from './table.ts'

/** What an operator gives a new organization beside its name and plan. */
export interface FirstMembers {
  /** Its first owner; null: none. */
  readonly owner: Omit<OwnerRequest, 'organizationId'> | null
  /** Its first API key; null: none. */
  readonly key: Pick<NewKey, 'name' | 'scopes'> | null
}

export interface CreatedOrganization extends NewOrganization {
  readonly id: Id<'org'>
  readonly owner: EnsuredOwner | null
  readonly key: CreatedKey | null
}

/** Creates an organization for an operator, with its first owner and key, and their audit entries. */
export function createOrganizationByOperator(
  db: Db,
  operator: Operator,
  { name, plan }: NewOrganization,
  { owner, key }: FirstMembers,
): Promise<CreatedOrganization> {
  const { clock } = operator
  return inTransaction(db, async tx => {
    const { id } = await createOrganization(tx, { name, plan }, clock)
    const entry = { subject: id, organizationId: id }
    await recordAuditEntry(tx, operator, { ...entry, action: 'org.create', detail: { name, plan } })
    return {
      ...{ id, name, plan },
      owner: owner && (await makeOwnerByOperator(tx, operator, { organizationId: id, ...owner })),
      key: key && (await createKey(tx, { organizationId: id, brandId: null, expiresAt: null, ...key }, clock)),
    }
  })
}

/**
 * Makes an owner for an operator, with audit entries, in the caller's transaction. A member with another role keeps it, and
 * nothing is done.
 */
export async function makeOwnerByOperator(db: Db, operator: Operator, request: OwnerRequest): Promise<EnsuredOwner> {
  const owner = await ensureOwner(db, request, operator.clock)
  const { memberId, email, role, wasMember, newOperator, link } = owner
  if (role !== 'owner') return owner
  const record = (action: string, subject: string) =>
    recordAuditEntry(db, operator, { action, subject, detail: { email }, organizationId: request.organizationId })
  if (!wasMember) await record('member.add', memberId)
  if (newOperator) await record('operator.add', newOperator)
  if (link) await record('member.link', memberId)
  return owner
}

/**
 * Moves an organization to another plan for an operator, from its next send on; undefined: there is none.
 * @throws Refusal `changed_since_read`
 */
export function changePlanByOperator(
  db: Db,
  operator: Operator,
  id: Id<'org'>,
  plan: Plan,
  condition: ConditionalChange = {},
): Promise<OrganizationRow | undefined> {
  return inTransaction(db, async tx => {
    const changed = await changeOrganization(tx, operator.clock, id, { plan, ...condition })
    const entry = { action: 'org.plan', subject: id, detail: { plan }, organizationId: id }
    if (changed && changed.after !== changed.before) await recordAuditEntry(tx, operator, entry)
    return changed?.after
  })
}
