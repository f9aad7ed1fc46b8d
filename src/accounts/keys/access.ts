import type { Barred, Caller } from '../../api/caller.ts'
import { managesMembers } from '../../api/scope.ts'
import type { Role } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { readPermissions, readScopes } from './permissions.ts'
import type { LiveKeyRow } from './table.ts'

/** What a key may do at this moment; undefined: its member was removed, and the key with them. */
export type Access = Pick<Caller, 'scopes' | 'memberId' | 'role' | 'barred'>

/**
 * What the rows of a key and of the person behind it allow. A member's key does what both it and the member may do. An
 * organization's key outlives its maker, but manages members only while its maker is owner or admin.
 */
export function accessOf(row: LiveKeyRow): Access | undefined {
  if (row.member_id === null) return organizationAccess(row)
  if (row.member_role === null) return undefined
  return memberAccess(row, row.member_id, row.member_role)
}

function organizationAccess(row: LiveKeyRow): Access {
  const role = row.maker_id === null ? 'owner' : (row.maker_role ?? 'member')
  const mayManage = role !== 'member' && row.brand_id === null
  return {
    scopes: new Set(readScopes(row.scopes).filter(each => mayManage || !managesMembers(each))),
    memberId: row.maker_id,
    role,
    barred: null,
  }
}

function memberAccess(row: LiveKeyRow, memberId: Id<'mem'>, role: Role): Access {
  const own = readScopes(row.scopes).filter(each => !managesMembers(each))
  if (role !== 'member') return { scopes: new Set(own), memberId, role, barred: null }
  const permissions: ReadonlySet<string> = new Set(readPermissions(row.member_permissions ?? ''))
  const barred = barredBy(row, permissions)
  const scopes = barred ? [] : own.filter(each => permissions.has(each))
  return { scopes: new Set(scopes), memberId, role, barred }
}

function barredBy(row: LiveKeyRow, permissions: ReadonlySet<string>): Barred | null {
  if (!permissions.has('api_access'))
    return {
      code: 'insufficient_scope',
      message: `The member ${row.member_id}, whose API key this is, no longer has API access.`,
    }
  if (row.brand_id === null || row.member_brand_id === null)
    return {
      code: 'brand_restricted',
      message: `The member ${row.member_id}, whose API key this is, no longer has the brand ${row.brand_id}.`,
    }
  return null
}
