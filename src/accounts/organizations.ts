import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import { type Id, newId } from '../base/ids.ts'
import type { Plan } from './plans.ts'
import {
  insertOrganization,
  type OrganizationRow,
  selectOrganization,
  selectOrganizations,
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
