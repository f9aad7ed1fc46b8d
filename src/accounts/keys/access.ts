import type { AccessDenial, Caller } from '../../api/caller.ts'
import { managesMembers } from '../../api/scope.ts'
import type { Role } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { parsePermissions, parseScopes } from './permissions.ts'
import type { KeyAuthRow } from './table.ts'

/** What of a key's row decides what it may do. */
export type KeyAccessRow = Omit<KeyAuthRow, 'secret_hash'>

/** What a key may do at the moment. */
export type KeyAccess = Pick<Caller, 'scopes' | 'memberId' | 'role' | 'denial'>

/**
 * What a key may do, from its row and the current row of its member or maker; undefined: its member was removed. A
 * member's key may do what both the key and the member may. An organization's key outlives its maker, but may manage
 * members only while its maker is owner or admin.
 */
export function resolveKeyAccess(row: KeyAccessRow): KeyAccess | undefined {
  if (row.member_id === null) return organizationAccess(row)
  if (row.member_role === null) return undefined
  return memberAccess(row, row.member_id, row.member_role)
}

function organizationAccess(row: KeyAccessRow): KeyAccess {
  const role = row.maker_id === null ? 'owner' : (row.maker_role ?? 'member')
  const mayManage = role !== 'member' && row.brand_id === null
  return {
    scopes: new Set(parseScopes(row.scopes).filter(parseScope => mayManage || !managesMembers(parseScope))),
    memberId: row.maker_id,
    role,
    denial: null,
  }
}

function memberAccess(row: KeyAccessRow, memberId: Id<'mem'>, role: Role): KeyAccess {
  const own = parseScopes(row.scopes).filter(parseScope => !managesMembers(parseScope))
  if (role !== 'member') return { scopes: new Set(own), memberId, role, denial: null }
  const permissions: ReadonlySet<string> = new Set(parsePermissions(row.member_permissions ?? ''))
  const barred = barredBy(row, permissions)
  const scopes = barred ? [] : own.filter(scope => permissions.has(scope))
  return { scopes: new Set(scopes), memberId, role, denial: barred }
}

function barredBy(row: KeyAccessRow, permissions: ReadonlySet<string>): AccessDenial | null {
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
