const kinds = ['brands', 'domains', 'inbox', 'suppressions', 'templates', 'drafts', 'members'] as const

/** What a key may be allowed to do. */
export type Scope = 'email:send' | 'email:read' | `${(typeof kinds)[number]}:${'read' | 'write'}`

export const scopes: readonly Scope[] = [
  'email:send',
  'email:read',
  ...kinds.flatMap(kind => [`${kind}:read`, `${kind}:write`] as const),
]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
