import type { Clock, Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import { monthOf, type Plan, toUsage, type Usage } from './quota.ts'
import {
  countDependentRows,
  type DependentTable,
  deleteOrganization,
  lockOrganization,
  selectAcceptedCountsOfAll,
} from './removal-table.ts'
import {
  insertOrganization,
  type OrganizationRow,
  selectOrganization,
  selectOrganizations,
  updateOrganizationName,
  updateOrganizationPlan,
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
export async function listOrganizationUsage(db: Db, at: Instant): Promise<readonly (OrganizationRow & Usage)[]> {
  const accepted = await selectAcceptedCountsOfAll(db, monthOf(at))
  return (await selectOrganizations(db)).map(row => ({ ...row, ...toUsage(row.plan, accepted.get(row.id) ?? 0, at) }))
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
  await updateOrganizationPlan(db, id, plan)
  return selectOrganization(db, id)
}

/** Gives an organization another name; gives it as it is then; undefined: there is none. */
export async function renameOrganization(db: Db, id: Id<'org'>, name: string): Promise<OrganizationRow | undefined> {
  await updateOrganizationName(db, id, name)
  return selectOrganization(db, id)
}

/** Of what is in the way, no more are counted. */
export const maxCounted = 1000

/** What an organization still has, of what is not to go with it; what it has none of is absent. */
export type RemovalBlockers = Readonly<Partial<Record<DependentTable, number>>>

/**
 * Takes away an organization that has nothing any more, with its brands, keys and invitations, in the caller's transaction.
 * What is in the way is told, and then nothing is taken; undefined: there is no such organization.
 */
export async function removeOrganization(db: Db, id: Id<'org'>): Promise<RemovalBlockers | undefined> {
  if (!(await lockOrganization(db, id))) return undefined
  const counts = Object.entries(await countDependentRows(db, id, maxCounted)).filter(([, count]) => count > 0)
  if (counts.length === 0) await deleteOrganization(db, id)
  return Object.fromEntries(counts)
}
