import { isScope, managesMembers, type Scope, scopes } from '../../api/scope.ts'

/** What a member may be let do: any scope but those that manage members, and `api_access`, to have keys of their own. */
export type Permission = Exclude<Scope, `members:${string}`> | 'api_access'

/** All that there are, in the order in which they are shown. */
export const permissions: readonly Permission[] = [...scopes.filter(isPermissionScope), 'api_access']

function isPermissionScope(scope: Scope): scope is Exclude<Permission, 'api_access'> {
  return !managesMembers(scope)
}

export function isPermission(text: string): text is Permission {
  return (permissions as readonly string[]).includes(text)
}

/** As a row holds them: each once, with spaces between. */
export function formatPermissions(granted: readonly Permission[]): string {
  return permissions.filter(permission => granted.includes(permission)).join(' ')
}

export function parsePermissions(text: string): readonly Permission[] {
  return text.split(' ').filter(isPermission)
}

/** Scopes as a key's row holds them. */
export function parseScopes(text: string): readonly Scope[] {
  return text.split(' ').filter(isScope)
}
