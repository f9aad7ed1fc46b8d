import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { deleteCursors } from '../targets/cursors-table.ts'
import { type Days, defaultsOf, type Kind, leastDays, type RetentionSettings } from './kinds.ts'
import { deletePolicy, type PolicyRow, selectPolicies, upsertPolicy } from './table.ts'

/** For whom: a brand or an organization, by its id, or all who have set nothing of their own. */
export type Scope = Id<'brd'> | Id<'org'> | 'instance'

/** How long what is stored is kept: what is set for the brand, else for the organization, else for the instance. */
export interface Policies {
  daysFor(kind: Kind, organizationId: Id<'org'>, brandId: Id<'brd'> | null): Days
  /** All the times that this kind is kept by someone, other than for ever. */
  timesOf(kind: Kind): readonly number[]
  /** What is set, and for the instance what holds. */
  readonly all: readonly PolicyRow[]
}

export async function loadPolicies(db: Db, settings: RetentionSettings): Promise<Policies> {
  return policiesOf(await selectPolicies(db), settings)
}

function policiesOf(rows: readonly PolicyRow[], settings: RetentionSettings): Policies {
  const defaults = defaultsOf(settings)
  const set = new Map(rows.map(row => [`${row.scope} ${row.kind}`, row.days]))
  const find = (kind: Kind, scopes: readonly (string | null)[]): Days => {
    const found = scopes.map(scope => set.get(`${scope} ${kind}`)).find(days => days !== undefined)
    const days = found === undefined ? defaults[kind] : found
    return days === null ? null : Math.max(days, leastDays(kind, settings))
  }
  const instance = (Object.keys(defaults) as Kind[]).map(kind => ({
    scope: 'instance',
    kind,
    days: find(kind, ['instance']),
  }))
  return {
    daysFor: (kind, organizationId, brandId) => find(kind, [brandId, organizationId, 'instance']),
    timesOf(kind) {
      const scopes = rows.filter(row => row.kind === kind).map(row => row.scope)
      const times = [...scopes, 'instance'].flatMap(scope => find(kind, [scope, 'instance']) ?? [])
      return [...new Set(times)].sort((a, b) => a - b)
    },
    all: [...instance, ...rows.filter(row => row.scope !== 'instance')],
  }
}

/**
 * Sets how long a kind is kept, or takes back what was set, in the caller's transaction; what lies behind is looked through
 * again then.
 */
export async function setPolicy(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  scope: Scope,
  kind: Kind,
  days: Days | 'inherit',
): Promise<void> {
  if (days === 'inherit') await deletePolicy(db, scope, kind)
  else await upsertPolicy(db, { scope, kind, days }, clock.now())
  await deleteCursors(db, kind)
}
