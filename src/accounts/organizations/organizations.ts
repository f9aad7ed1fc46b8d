import type { Clock, Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import { monthOf, type Plan, type Usage, usage } from './quota.ts'
import {
  countHoldings,
  deleteOrganization,
  type Holding,
  lockOrganization,
  selectAllAccepted,
} from './removal-table.ts'
import {
  insertOrganization,
  type OrganizationRow,
  selectOrganization,
  selectOrganizations,
  updateName,
  updatePlan,
} from './table.ts'

/** What an organization is made of. */
export interface NewOrganization {
  /** 1 to 120 characters. */
  readonly name: string
  readonly plan: Plan
}

/** Makes an organization, with nothing in it. */
export async function createOrganization(
  db: Db,
  { name, plan }: NewOrganization,
  clock: Clock,
): Promise<{ readonly id: Id<'org'> }> {
  const id = newId('org')
  await insertOrganization(db, { id, name, plan, created_at: clock.now() })
  return { id }
}

/** All of them, oldest first: for the operator. */
export function listOrganizations(db: Db): Promise<readonly OrganizationRow[]> {
  return selectOrganizations(db)
}

/** All of them, oldest first, with what they used of the month of `at`. */
export async function listUsages(db: Db, at: Instant): Promise<readonly (OrganizationRow & Usage)[]> {
  const accepted = await selectAllAccepted(db, monthOf(at))
  return (await selectOrganizations(db)).map(row => ({ ...row, ...usage(row.plan, accepted.get(row.id) ?? 0, at) }))
}

/** One of them; undefined: there is none. */
export function findOrganization(db: Db, id: Id<'org'>): Promise<OrganizationRow | undefined> {
  return selectOrganization(db, id)
}

/**
 * Puts an organization on a plan, from its next send on; what it has sent this month counts on. Waits for sends that are
 * being accepted. Gives it as it is then; undefined: there is none.
 */
export async function changePlan(db: Db, id: Id<'org'>, plan: Plan): Promise<OrganizationRow | undefined> {
  await updatePlan(db, id, plan)
  return selectOrganization(db, id)
}

/** Gives an organization another name; gives it as it is then; undefined: there is none. */
export async function renameOrganization(db: Db, id: Id<'org'>, name: string): Promise<OrganizationRow | undefined> {
  await updateName(db, id, name)
  return selectOrganization(db, id)
}

/** Of what is in the way, no more are counted. */
export const mostCounted = 1000

/** What an organization still has, of what is not to go with it; what it has none of is absent. */
export type InTheWay = Readonly<Partial<Record<Holding, number>>>

/**
 * Takes away an organization that has nothing any more, with its brands, keys and invitations, in the caller's transaction.
 * What is in the way is told, and then nothing is taken; undefined: there is no such organization.
 */
export async function removeOrganization(db: Db, id: Id<'org'>): Promise<InTheWay | undefined> {
  if (!(await lockOrganization(db, id))) return undefined
  const counts = Object.entries(await countHoldings(db, id, mostCounted)).filter(([, count]) => count > 0)
  if (counts.length === 0) await deleteOrganization(db, id)
  return Object.fromEntries(counts)
}
