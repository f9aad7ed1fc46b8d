import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import { type Id, newId } from '../base/ids.ts'
import type { Plan } from './plans.ts'
import { insertOrganization, type OrganizationRow, selectOrganizations } from './table.ts'

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
