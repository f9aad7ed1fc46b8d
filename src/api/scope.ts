const kinds = ['brands', 'domains', 'inbox', 'suppressions', 'templates', 'drafts', 'members'] as const

/** What a key may be allowed to do. */
export type Scope = 'email:send' | 'email:read' | `${(typeof kinds)[number]}:${'read' | 'write'}`

export const scopes: readonly Scope[] = [
  'email:send',
  'email:read',
  ...kinds.flatMap(kind => [`${kind}:read`, `${kind}:write`] as const),
]

/** Only keys of the whole organization that an owner or admin made carry such a scope. */
export function managesMembers(scope: Scope): boolean {
  return scope.startsWith('members:')
}

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
