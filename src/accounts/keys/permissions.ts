import { isScope, managesMembers, type Scope, scopes } from '../../api/scope.ts'

/** What a member can be granted: any scope except those that manage members, and `api_access`, which lets them have API keys. */
export type Permission = Exclude<Scope, `members:${string}`> | 'api_access'

/** All permissions, in the order of API responses. */
export const permissions: readonly Permission[] = [...scopes.filter(isPermissionScope), 'api_access']

function isPermissionScope(scope: Scope): scope is Exclude<Permission, 'api_access'> {
  return !managesMembers(scope)
}

export function isPermission(text: string): text is Permission {
  return (permissions as readonly string[]).includes(text)
}

/** The column's form: distinct, separated by spaces. */
export function formatPermissions(granted: readonly Permission[]): string {
  return permissions.filter(permission => granted.includes(permission)).join(' ')
}

/** The permissions in a member's or invitation's column. */
export function parsePermissions(text: string): readonly Permission[] {
  return text.split(' ').filter(isPermission)
}

/** The scopes in a key's column. */
export function parseScopes(text: string): readonly Scope[] {
  return text.split(' ').filter(isScope)
}
