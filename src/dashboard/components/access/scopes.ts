/** The permissions of keys and members, by what they concern, as the API names them. */
export const scopeGroups = [
  { key: 'email', scopes: ['email:send', 'email:read'] },
  { key: 'inbox', scopes: ['inbox:read', 'inbox:write'] },
  { key: 'drafts', scopes: ['drafts:read', 'drafts:write'] },
  { key: 'templates', scopes: ['templates:read', 'templates:write'] },
  { key: 'suppressions', scopes: ['suppressions:read', 'suppressions:write'] },
  { key: 'domains', scopes: ['domains:read', 'domains:write'] },
  { key: 'brands', scopes: ['brands:read', 'brands:write'] },
  { key: 'webhooks', scopes: ['webhooks:read', 'webhooks:write'] },
  { key: 'members', scopes: ['members:read', 'members:write'] },
] as const

/** What a key may be allowed to do. */
export type Scope = (typeof scopeGroups)[number]['scopes'][number]

/** What a member may be granted: all but managing members, and having keys. */
export type Permission = Exclude<Scope, `members:${string}`> | 'api_access'

/** All scopes, in the order in which they are shown. */
export const allScopes: readonly Scope[] = scopeGroups.flatMap(({ scopes }) => [...scopes])

export function isPermissionScope(scope: Scope): scope is Exclude<Permission, 'api_access'> {
  return !scope.startsWith('members:')
}
