import type { Selectable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'

export type MtaStsPolicyRow = Selectable<DatabaseSchema['mta_sts_policies']>

/** The MTA-STS policy of a domain; undefined: none was ever set. */
export async function selectPolicy(db: Db, domain: string): Promise<MtaStsPolicyRow | undefined> {
  return db
    .selectFrom('mta_sts_policies')
    .select(['domain', 'mode', 'policy_id', 'changed_at'])
    .where('domain', '=', domain)
    .executeTakeFirst()
}

/** The domains whose policy must be served, by name: policies that are off only if they changed after `since`. */
export async function selectPolicyDomains(db: Db, since: Instant, limit: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('mta_sts_policies')
    .select('domain')
    .where(expressionBuilder =>
      expressionBuilder.or([expressionBuilder('mode', '!=', 'none'), expressionBuilder('changed_at', '>', since)]),
    )
    .orderBy('domain')
    .limit(limit)
    .execute()
  return rows.map(row => row.domain)
}

/** At most `limit` policies, by domain. */
export async function selectPolicies(db: Db, limit: number): Promise<readonly MtaStsPolicyRow[]> {
  return await db
    .selectFrom('mta_sts_policies')
    .select(['domain', 'mode', 'policy_id', 'changed_at'])
    .orderBy('domain')
    .limit(limit)
    .execute()
}

export async function upsertPolicy(db: Db, row: MtaStsPolicyRow): Promise<void> {
  const { mode, policy_id, changed_at } = row
  await db.insertInto('mta_sts_policies').values(row).onDuplicateKeyUpdate({ mode, policy_id, changed_at }).execute()
}
