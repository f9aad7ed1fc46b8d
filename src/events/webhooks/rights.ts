import { resolveKeyAccess } from '../../accounts/keys/access.ts'
import { parsePermissions } from '../../accounts/keys/permissions.ts'
import { selectKeysForAuth } from '../../accounts/keys/table.ts'
import { selectMember, selectMemberBrands } from '../../accounts/members/table.ts'
import { type Scope, scopes } from '../../api/scope.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type EventType, isEventType, scopeOfEvent } from '../event-types.ts'
import { typesOf } from './schema.ts'
import type { WebhookRow } from './table.ts'

/** What whoever made a webhook, or enabled it last, may see at this moment. */
export interface MakerRights {
  readonly scopes: ReadonlySet<Scope>
  /** Only events of these brands; null: of the whole organization. */
  readonly brandIds: ReadonlySet<Id<'brd'>> | null
}

const nothing: MakerRights = { scopes: new Set(), brandIds: null }

type Maker = Pick<WebhookRow, 'organization_id' | 'maker_key_id' | 'maker_member_id'>

/** The rights of a webhook's maker: none for a key that is revoked, disabled or expired, and for a removed member. */
export async function loadMakerRights(db: Db, maker: Maker, now: Instant): Promise<MakerRights> {
  if (maker.maker_key_id !== null) return await rightsOfKey(db, maker.maker_key_id, now)
  if (maker.maker_member_id !== null) return await rightsOfMember(db, maker.organization_id, maker.maker_member_id)
  return nothing
}

/** May this event be given to whoever has these rights? */
export function maySeeEvent(
  { scopes, brandIds }: MakerRights,
  event: { readonly type: string; readonly brand_id: Id<'brd'> | null },
): boolean {
  if (!isEventType(event.type) || !scopes.has(scopeOfEvent(event.type))) return false
  return brandIds === null || (event.brand_id !== null && brandIds.has(event.brand_id))
}

/** Is there a type of the webhook that its maker may still see, in its brand? */
export function maySeeAnyType(rights: MakerRights, row: Pick<WebhookRow, 'types' | 'brand_id'>): boolean {
  return typesOf(row).some(type => maySeeEvent(rights, { type, brand_id: row.brand_id ?? anyBrandOf(rights) }))
}

/** The first of these types that the scopes do not include; undefined: all are. */
export function findMissingScope(scopes: ReadonlySet<Scope>, types: readonly EventType[]): Scope | undefined {
  return types.map(scopeOfEvent).find(scope => !scopes.has(scope))
}

function anyBrandOf({ brandIds }: MakerRights): Id<'brd'> | null {
  return brandIds?.values().next().value ?? null
}

async function rightsOfKey(db: Db, id: Id<'key'>, now: Instant): Promise<MakerRights> {
  const [row] = await selectKeysForAuth(db, [id])
  if (!row || row.revoked_at !== null || row.disabled_at !== null) return nothing
  if (row.expires_at !== null && row.expires_at <= now) return nothing
  const access = resolveKeyAccess(row)
  if (!access || access.denial) return nothing
  return { scopes: access.scopes, brandIds: row.brand_id === null ? null : new Set([row.brand_id]) }
}

async function rightsOfMember(db: Db, organizationId: Id<'org'>, id: Id<'mem'>): Promise<MakerRights> {
  const member = await selectMember(db, organizationId, id)
  if (!member) return nothing
  if (member.role !== 'member') return { scopes: new Set(scopes), brandIds: null }
  const granted: ReadonlySet<string> = new Set(parsePermissions(member.permissions))
  const brandIds = (await selectMemberBrands(db, [id])).get(id) ?? []
  return { scopes: new Set(scopes.filter(scope => granted.has(scope))), brandIds: new Set(brandIds) }
}
