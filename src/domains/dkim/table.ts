import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import type { SealedSecret } from '../../base/secrets/secrets.ts'

export type DkimKeyRow = Selectable<DatabaseSchema['dkim_keys']>

const columns = [
  'dkim_keys.domain_id',
  'dkim_keys.selector',
  'dkim_keys.private_key',
  'dkim_keys.created_at',
  'dkim_keys.sealed_by',
  'dkim_keys.state',
  'dkim_keys.state_since',
] as const

/** The signing keys of these domains, oldest first, each with its domain's name. */
export async function selectSigningKeys(
  db: Db,
  domainIds: readonly Id<'dom'>[],
): Promise<readonly (DkimKeyRow & { readonly domain: string })[]> {
  if (domainIds.length === 0) return []
  return db
    .selectFrom('dkim_keys')
    .innerJoin('domains', 'domains.id', 'dkim_keys.domain_id')
    .select([...columns, 'domains.domain'])
    .where('dkim_keys.domain_id', 'in', domainIds)
    .where('dkim_keys.state', '=', 'signing')
    .orderBy('dkim_keys.created_at')
    .orderBy('dkim_keys.selector')
    .execute()
}

/** All keys of a domain, oldest first. */
export async function selectDkimKeys(db: Db, domainId: Id<'dom'>): Promise<readonly DkimKeyRow[]> {
  return db
    .selectFrom('dkim_keys')
    .select(columns)
    .where('domain_id', '=', domainId)
    .orderBy('created_at')
    .orderBy('selector')
    .execute()
}

/** Inserts the key unless the domain has one with this selector. */
export async function insertDkimKey(db: Db, row: DkimKeyRow): Promise<void> {
  await db.insertInto('dkim_keys').values(row).onDuplicateKeyUpdate({ selector: row.selector }).execute()
}

type DkimKeyId = Pick<DkimKeyRow, 'domain_id' | 'selector'>

export async function updateDkimKeyState(
  db: Db,
  key: DkimKeyId,
  state: DkimKeyRow['state'],
  at: Instant,
): Promise<void> {
  await db.updateTable('dkim_keys').set({ state, state_since: at }).where(hasId(key)).execute()
}

export async function deleteDkimKey(db: Db, key: DkimKeyId): Promise<void> {
  await db.deleteFrom('dkim_keys').where(hasId(key)).execute()
}

/** Up to `most` keys that are unsealed or sealed with another secret key, locked until the transaction ends. */
export async function lockDkimKeysNotSealedBy(db: Db, secretId: string, most: number): Promise<readonly DkimKeyRow[]> {
  return db
    .selectFrom('dkim_keys')
    .select(columns)
    .where(({ or, eb }) => or([eb('sealed_by', 'is', null), eb('sealed_by', '!=', secretId)]))
    .orderBy('domain_id')
    .orderBy('selector')
    .limit(sql.lit(most))
    .forUpdate()
    .execute()
}

export async function updateDkimKeySeal(db: Db, key: DkimKeyId, { keyId, text }: SealedSecret): Promise<void> {
  await db.updateTable('dkim_keys').set({ sealed_by: keyId, private_key: text }).where(hasId(key)).execute()
}

function hasId({ domain_id, selector }: DkimKeyId) {
  return sql<boolean>`domain_id = ${domain_id} AND selector = ${selector}`
}
