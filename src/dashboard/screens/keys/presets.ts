import { allScopes, isPermissionScope, type Scope } from '../../components/access/scopes.ts'

/** A usual set of scopes. */
export type PresetName = 'send' | 'inbox' | 'agent' | 'all'

const scopesOf: Readonly<Record<PresetName, readonly Scope[]>> = {
  send: ['email:send'],
  inbox: ['inbox:read'],
  agent: [
    'email:send',
    'email:read',
    'inbox:read',
    'inbox:write',
    'drafts:read',
    'drafts:write',
    'templates:read',
    'suppressions:read',
    'domains:read',
  ],
  all: allScopes.filter(isPermissionScope),
}

const presetNames = Object.keys(scopesOf) as readonly PresetName[]

/** The scopes of a preset that may be chosen. */
export function presetScopes(name: PresetName, offered: readonly Scope[]): readonly Scope[] {
  return scopesOf[name].filter(scope => offered.includes(scope))
}

/** The presets that differ in what they give of the scopes that may be chosen. */
export function offeredPresets(offered: readonly Scope[]): readonly PresetName[] {
  const given = presetNames.map(name => presetScopes(name, offered).join(' '))
  return presetNames.filter((_, i) => given[i] !== '' && given.indexOf(given[i] ?? '') === i)
}

/** The preset with exactly these scopes; null: they were chosen one by one. */
export function presetOf(scopes: readonly Scope[], offered: readonly Scope[] = allScopes): PresetName | null {
  const chosen = new Set(scopes)
  return (
    presetNames.find(name => {
      const wanted = presetScopes(name, offered)
      return wanted.length === chosen.size && wanted.every(scope => chosen.has(scope))
    }) ?? null
  )
}
