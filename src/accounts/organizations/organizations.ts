import { applyChange, type ConditionalChange, lastUpdatedAt, requireUnchanged } from '../../api/if-updated-at.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { monthOf, type Plan, toUsage, type Usage } from './quota.ts'
import { selectAcceptedCounts, selectAcceptedCountsOfAll } from './quota-table.ts'
import {
  countDependentRows,
  type DependentTable,
  deleteOrganization,
  insertOrganization,
  lockOrganization,
  type OrganizationRow,
  selectOrganization,
  selectOrganizations,
  selectOrganizationsAfter,
  updateOrganization,
} from './table.ts'

export interface NewOrganization {
  /** 1 to 120 characters. */
  readonly name: string
  readonly plan: Plan
}

/** Creates an organization without brands, members or keys. */
export async function createOrganization(
  db: Db,
  { name, plan }: NewOrganization,
  clock: Clock,
): Promise<{ readonly id: Id<'org'> }> {
  const id = newId('org')
  await insertOrganization(db, { id, name, plan, created_at: clock.now() })
  return { id }
}

/** All organizations, oldest first: for the operator. */
export function listOrganizations(db: Db): Promise<readonly OrganizationRow[]> {
  return selectOrganizations(db)
}

/** All organizations, oldest first, with their usage in the month of `at`. */
export async function listOrganizationUsage(db: Db, at: Instant): Promise<readonly (OrganizationRow & Usage)[]> {
  const accepted = await selectAcceptedCountsOfAll(db, monthOf(at))
  return (await selectOrganizations(db)).map(row => ({ ...row, ...toUsage(row.plan, accepted.get(row.id) ?? 0, at) }))
}

/** At most `limit` organizations after the one with the id `after`, oldest first, with their usage in the month of `at`. */
export async function pageOrganizationUsage(
  db: Db,
  at: Instant,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly (OrganizationRow & Usage)[]> {
  const rows = await selectOrganizationsAfter(db, after, limit)
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const accepted = await selectAcceptedCounts(db, ids, monthOf(at))
  return rows.map(row => ({ ...row, ...toUsage(row.plan, accepted.get(row.id) ?? 0, at) }))
}

/** The organization with this id; undefined: there is none. */
export function findOrganization(db: Db, id: Id<'org'>): Promise<OrganizationRow | undefined> {
  return selectOrganization(db, id)
}

/** The id of an organization that exists. @throws Refusal `not_found` */
export async function requireOrganization(db: Db, id: string): Promise<Id<'org'>> {
  if (!isId('org', id) || !(await selectOrganization(db, id)))
    throw refuse('not_found', { message: `There is no organization ${id}.` })
  return id
}

/** The name or plan to change. */
export interface OrganizationChange extends ConditionalChange {
  readonly name?: string
  readonly plan?: Plan
}

/** An organization as it was, and as it is now: the same object where nothing changed. */
export interface ChangedOrganization {
  readonly before: OrganizationRow
  readonly after: OrganizationRow
}

/**
 * Changes an organization's name, or its plan from its next send on, in the caller's transaction; this month's usage keeps
 * counting. Waits for sends that are being accepted. undefined: there is no such organization.
 * @throws Refusal `changed_since_read`
 */
export async function changeOrganization(
  db: Db,
  clock: Clock,
  id: Id<'org'>,
  { if_updated_at, ...change }: OrganizationChange,
): Promise<ChangedOrganization | undefined> {
  const before = await lockOrganization(db, id)
  if (!before) return undefined
  requireUnchanged(`The organization ${before.name}`, { updated_at: lastUpdatedAt(before) }, { if_updated_at })
  const after = applyChange(before, change, clock.now())
  if (after !== before) await updateOrganization(db, after)
  return { before, after }
}

/** Rows that prevent a removal are counted up to this number, per table. */
export const maxCounted = 1000

/** How many rows of each table prevent the removal of an organization; a table without any is absent. */
export type RemovalBlockers = Readonly<Partial<Record<DependentTable, number>>>

/**
 * Removes an empty organization with its brands, keys and invitations, in the caller's transaction. Resolves to what
 * prevents it, in which case nothing is removed; empty: it was removed; undefined: there is no such organization.
 */
export async function removeOrganization(db: Db, id: Id<'org'>): Promise<RemovalBlockers | undefined> {
  if (!(await lockOrganization(db, id))) return undefined
  const counts = Object.entries(await countDependentRows(db, id, maxCounted)).filter(([, count]) => count > 0)
  if (counts.length === 0) await deleteOrganization(db, id)
  return Object.fromEntries(counts)
}
