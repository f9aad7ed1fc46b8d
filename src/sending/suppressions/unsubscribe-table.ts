import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'

/** An unsubscribe link, with the name of its brand. */
export type UnsubscribeLink = Omit<DatabaseSchema['unsubscribe_links'], 'token_hash' | 'created_at'> & {
  readonly brandName: string
}

/** The link whose token has this SHA-256. The caller knows no organization: the link determines it. */
export async function selectUnsubscribeLink(db: Db, tokenHash: Buffer): Promise<UnsubscribeLink | undefined> {
  return db
    .selectFrom('unsubscribe_links')
    .innerJoin('brands', join =>
      join
        .onRef('brands.id', '=', 'unsubscribe_links.brand_id')
        .onRef('brands.organization_id', '=', 'unsubscribe_links.organization_id'),
    )
    .select([
      'unsubscribe_links.organization_id',
      'unsubscribe_links.brand_id',
      'unsubscribe_links.email_id',
      'unsubscribe_links.email',
      'brands.name as brandName',
    ])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
}
