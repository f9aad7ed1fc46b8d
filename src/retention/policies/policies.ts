import { type ConditionalChange, changedSinceRead, nextUpdatedAt, requireUnchanged } from '../../api/if-updated-at.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, isDuplicate } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { deleteCursors } from '../targets/cursors-table.ts'
import { defaultDays, minimumDays, type RetentionDays, type RetentionKind, type RetentionSettings } from './kinds.ts'
import {
  deletePolicy,
  insertPolicy,
  lockPolicy,
  type NewRetentionPolicyRow,
  type RetentionPolicyRow,
  selectPolicies,
  upsertPolicy,
} from './table.ts'

/** What a policy applies to: a brand, an organization, or the whole instance. The narrowest one wins. */
export type PolicyScope = Id<'brd'> | Id<'org'> | 'instance'

/** The retention times: the one set for the brand, else for its organization, else for the instance. */
export interface RetentionPolicies {
  daysFor(kind: RetentionKind, organizationId: Id<'org'>, brandId: Id<'brd'> | null): RetentionDays
  /** All different retention times of this kind, in days, shortest first, without forever. */
  periodsOf(kind: RetentionKind): readonly number[]
  /** The policies that are set; for the instance all that are in force, defaults included. */
  readonly rows: readonly RetentionPolicyRow[]
}

export async function loadRetentionPolicies(db: Db, settings: RetentionSettings): Promise<RetentionPolicies> {
  return resolvePolicies(await selectPolicies(db), settings)
}

/** A retention time that is to be set, or with `inherit` no longer is. */
export interface RetentionChange {
  readonly scope: PolicyScope
  readonly kind: RetentionKind
  readonly days: RetentionDays | 'inherit'
}

/** The retention times as they would be after a change. */
export async function previewRetentionPolicies(
  db: Db,
  settings: RetentionSettings,
  { scope, kind, days }: RetentionChange,
): Promise<RetentionPolicies> {
  const others = (await selectPolicies(db)).filter(row => row.scope !== scope || row.kind !== kind)
  return resolvePolicies(days === 'inherit' ? others : [...others, { scope, kind, days, set_at: null }], settings)
}

function resolvePolicies(rows: readonly RetentionPolicyRow[], settings: RetentionSettings): RetentionPolicies {
  const defaults = defaultDays(settings)
  const set = new Map(rows.map(row => [`${row.scope} ${row.kind}`, row.days]))
  const find = (kind: RetentionKind, scopes: readonly (string | null)[]): RetentionDays => {
    const found = scopes.map(scope => set.get(`${scope} ${kind}`)).find(days => days !== undefined)
    const days = found === undefined ? defaults[kind] : found
    return days === null ? null : Math.max(days, minimumDays(kind, settings))
  }
  const instance = (Object.keys(defaults) as RetentionKind[]).map(kind => ({
    scope: 'instance',
    kind,
    days: find(kind, ['instance']),
    set_at: rows.find(row => row.scope === 'instance' && row.kind === kind)?.set_at ?? null,
  }))
  return {
    daysFor: (kind, organizationId, brandId) => find(kind, [brandId, organizationId, 'instance']),
    periodsOf(kind) {
      const scopes = rows.filter(row => row.kind === kind).map(row => row.scope)
      const times = [...scopes, 'instance'].flatMap(scope => find(kind, [scope, 'instance']) ?? [])
      return [...new Set(times)].sort((a, b) => a - b)
    },
    rows: [...instance, ...rows.filter(row => row.scope !== 'instance')],
  }
}

/**
 * Sets a retention time, or with `inherit` removes the one that was set, in the caller's transaction. The scans of the kind start
 * again from the beginning. False: it was so before, and nothing is written.
 * @param condition its `updated_at` is when the time was set; null: none was
 * @throws Refusal `changed_since_read`
 */
export async function setRetentionPolicy(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  scope: PolicyScope,
  kind: RetentionKind,
  days: RetentionDays | 'inherit',
  condition: ConditionalChange = {},
): Promise<boolean> {
  const what = `How long ${kind} is kept`
  const last = await lockPolicy(db, scope, kind)
  requireUnchanged(what, { updated_at: last?.set_at ?? null }, condition)
  if (days === (last ? last.days : 'inherit')) return false
  const now = clock.now()
  const set_at = last ? nextUpdatedAt(last.set_at, now) : now
  if (days === 'inherit') await deletePolicy(db, scope, kind)
  else if (condition.if_updated_at === null) await insertFirst(db, what, { scope, kind, days, set_at })
  else await upsertPolicy(db, { scope, kind, days, set_at })
  await deleteCursors(db, kind)
  return true
}

/** Sets the time for the first time: there was no row that could be locked. @throws Refusal `changed_since_read` */
async function insertFirst(db: Db, what: string, row: NewRetentionPolicyRow): Promise<void> {
  try {
    await insertPolicy(db, row)
  } catch (error) {
    throw isDuplicate(error, 'PRIMARY') ? changedSinceRead(what, null) : error
  }
}
