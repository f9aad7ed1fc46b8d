import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { segmentSize } from './segment.ts'

/** A segment of an organization's search index; see segment.ts. */
export interface SearchSegment {
  readonly organizationId: Id<'org'>
  readonly segment: number
}

/** The segments that these messages are in. */
export async function selectSearchSegments(db: Db, ids: readonly string[]): Promise<readonly SearchSegment[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('search_texts')
    .select(['organization_id', 'place'])
    .where('message_id', 'in', ids as readonly Id<'msg'>[])
    .where('place', 'is not', null)
    .execute()
  const segments = rows.map(row => ({
    organizationId: row.organization_id,
    segment: Math.floor((row.place ?? 0) / segmentSize),
  }))
  return [...new Map(segments.map(segment => [`${segment.organizationId} ${segment.segment}`, segment])).values()]
}

export async function isSegmentEmpty(db: Db, { organizationId, segment }: SearchSegment): Promise<boolean> {
  const row = await db
    .selectFrom('search_texts')
    .select('place')
    .where('organization_id', '=', organizationId)
    .where('place', '>=', segment * segmentSize)
    .where('place', '<', (segment + 1) * segmentSize)
    .limit(sql.lit(1))
    .executeTakeFirst()
  return row === undefined
}

/** Deletes at most `most` postings of a segment. Returns how many there were. */
export async function deletePostings(
  db: Db,
  { organizationId, segment }: SearchSegment,
  most: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM search_postings
    WHERE organization_id = ${organizationId} AND block = ${segment} LIMIT ${sql.lit(most)}`.execute(db)
  return Number(numAffectedRows)
}
