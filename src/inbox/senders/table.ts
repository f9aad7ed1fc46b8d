import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type SenderListingRow = Selectable<DatabaseSchema['sender_listings']>
/** Is the sender allowed or blocked? */
export type SenderListing = SenderListingRow['listing']

/** Those of these entries that one of the organizations has. For the hot path: at most some dozens of entries. */
export async function selectListings(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  entries: readonly string[],
): Promise<readonly Pick<SenderListingRow, 'organization_id' | 'entry' | 'listing'>[]> {
  if (organizationIds.length === 0 || entries.length === 0) return []
  const [ids, names] = [padToPowerOfTwo(organizationIds), padToPowerOfTwo(entries)]
  return await selectRows(
    db,
    `SELECT organization_id, entry, listing FROM sender_listings
     WHERE organization_id IN (${placeholders(ids)}) AND entry IN (${placeholders(names)})`,
    [...ids, ...names],
  )
}

/** At most `limit` entries of the organization after `after`, in their order. */
export async function selectEntries(
  db: Db,
  organizationId: Id<'org'>,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly SenderListingRow[]> {
  return await db
    .selectFrom('sender_listings')
    .select(['organization_id', 'entry', 'listing', 'created_at'])
    .where('organization_id', '=', organizationId)
    .where('entry', '>', after)
    .orderBy('entry')
    .limit(sql.lit(limit))
    .execute()
}

/** Inserts those of the entries that are new, and gives them; the others stay as they are. */
export async function insertNewEntries(
  db: Db,
  rows: readonly SenderListingRow[],
): Promise<readonly SenderListingRow[]> {
  const inserted = await Promise.all(rows.map(row => insertRows(db, 'sender_listings', [row], 'ignore')))
  return rows.filter((_, i) => inserted[i] === 1)
}

/** Lists these entries as `listing` since `since`, and gives those that were listed otherwise, as they were. */
export async function turnEntries(
  db: Db,
  organizationId: Id<'org'>,
  entries: readonly string[],
  { listing, since }: { readonly listing: SenderListing; readonly since: Instant },
): Promise<readonly SenderListingRow[]> {
  const turned = await db
    .selectFrom('sender_listings')
    .select(['organization_id', 'entry', 'listing', 'created_at'])
    .where('organization_id', '=', organizationId)
    .where('entry', 'in', padToPowerOfTwo(entries))
    .where('listing', '!=', listing)
    .orderBy('entry')
    .forUpdate()
    .execute()
  if (turned.length > 0)
    await db
      .updateTable('sender_listings')
      .set({ listing, created_at: since })
      .where('organization_id', '=', organizationId)
      .where('entry', 'in', padToPowerOfTwo(turned.map(row => row.entry)))
      .execute()
  return turned
}

/** Those of these entries that the organization has, deleted. */
export async function deleteEntries(
  db: Db,
  organizationId: Id<'org'>,
  entries: readonly string[],
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('sender_listings')
    .select('entry')
    .where('organization_id', '=', organizationId)
    .where('entry', 'in', padToPowerOfTwo(entries))
    .forUpdate()
    .execute()
  const found = rows.map(row => row.entry)
  if (found.length > 0)
    await db
      .deleteFrom('sender_listings')
      .where('organization_id', '=', organizationId)
      .where('entry', 'in', padToPowerOfTwo(found))
      .execute()
  return found
}

/** How many entries the organization has, counted up to `most`. */
export async function countEntries(db: Db, organizationId: Id<'org'>, most: number): Promise<number> {
  const { rows } = await sql<{ readonly count: string | number }>`SELECT COUNT(*) AS count FROM
    (SELECT 1 FROM sender_listings WHERE organization_id = ${organizationId} LIMIT ${sql.lit(most)}) AS some`.execute(
    db,
  )
  return Number(rows[0]?.count ?? 0)
}
