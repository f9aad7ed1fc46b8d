import { listOrganizations } from '../accounts/organizations/organizations.ts'
import type { Db } from '../base/database/database.ts'
import { type Id, isId } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'

/** The id that `--org` gives. @throws UsageError */
export function readOrganizationId(text: string | undefined): Id<'org'> {
  if (text === undefined) throw new UsageError('--org is absent')
  if (!isId('org', text)) throw new UsageError(`"${text}" is not the id of an organization`)
  return text
}

/** @throws UsageError */
export function readBrandId(text: string): Id<'brd'> {
  if (!isId('brd', text)) throw new UsageError(`"${text}" is not the id of a brand`)
  return text
}

/** @throws UsageError */
export function readMemberId(text: string): Id<'mem'> {
  if (!isId('mem', text)) throw new UsageError(`"${text}" is not the id of a member`)
  return text
}

/** @throws CommandError when there is no such organization */
export async function requireOrganization(db: Db, id: Id<'org'>): Promise<void> {
  const organizations = await listOrganizations(db)
  if (!organizations.some(organization => organization.id === id))
    throw new CommandError(`There is no organization ${id}.`)
}
