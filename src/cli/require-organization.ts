import { listOrganizations } from '../accounts/organizations/organizations.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { CommandError } from '../base/operator-error.ts'

/** @throws CommandError when there is no such organization */
export async function requireOrganization(db: Db, id: Id<'org'>): Promise<void> {
  const organizations = await listOrganizations(db)
  if (!organizations.some(organization => organization.id === id))
    throw new CommandError(`There is no organization ${id}.`)
}
