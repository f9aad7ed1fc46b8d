const kinds = ['brands', 'domains', 'inbox', 'suppressions', 'templates', 'drafts', 'webhooks', 'members'] as const

/** A permission of an API key. */
export type Scope = 'email:send' | 'email:read' | `${(typeof kinds)[number]}:${'read' | 'write'}`

export const scopes: readonly Scope[] = [
  'email:send',
  'email:read',
  ...kinds.flatMap(kind => [`${kind}:read`, `${kind}:write`] as const),
]

/** Only organization-wide keys created by an owner or admin may have such a scope. */
export function managesMembers(scope: Scope): boolean {
  return scope.startsWith('members:')
}

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
