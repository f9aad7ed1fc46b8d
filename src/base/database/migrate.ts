import { type Migration, Migrator } from 'kysely/migration'
import type { Db } from './database.ts'
import * as first from './migrations/0001-first.ts'
import * as search from './migrations/0002-search.ts'
import * as interface_ from './migrations/0003-interface.ts'
import * as searchBlocks from './migrations/0004-search-blocks.ts'
import * as dnsProviders from './migrations/0005-dns-providers.ts'
import * as reports from './migrations/0006-reports.ts'
import * as providers from './migrations/0007-providers.ts'
import * as domains from './migrations/0008-domains.ts'
import * as operation from './migrations/0009-operation.ts'
import * as backupRuns from './migrations/0010-backup-runs.ts'
import * as backups from './migrations/0011-backups.ts'
import * as evidence from './migrations/0012-evidence.ts'
import * as lists from './migrations/0013-lists.ts'
import * as certificates from './migrations/0014-certificates.ts'
import * as retention from './migrations/0015-retention.ts'
import * as schemaFloor from './migrations/0016-schema-floor.ts'
import * as searchReindex from './migrations/0017-search-reindex.ts'
import * as submitting from './migrations/0018-submitting.ts'
import * as people from './migrations/0019-people.ts'
import * as instance from './migrations/0020-instance.ts'
import * as events from './migrations/0021-events.ts'
import * as webhooks from './migrations/0022-webhooks.ts'
import * as spam from './migrations/0023-spam.ts'
import * as submission from './migrations/0024-submission.ts'
import * as updatedAt from './migrations/0025-updated-at.ts'
import { requireNoUnfinishedRestore } from './restores-table.ts'
import { appliedMigrations, newerMigrations } from './schema-version.ts'

/**
 * In the order in which they run. A released migration is never edited. Each only adds, so that the previous version can
 * run beside it; what the previous version used is removed a version later, by a migration that first inserts its own name
 * into `schema_floor`.
 */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-search': search,
  '0003-interface': interface_,
  '0004-search-blocks': searchBlocks,
  '0005-dns-providers': dnsProviders,
  '0006-reports': reports,
  '0007-providers': providers,
  '0008-domains': domains,
  '0009-operation': operation,
  '0010-backup-runs': backupRuns,
  '0011-backups': backups,
  '0012-evidence': evidence,
  '0013-lists': lists,
  '0014-certificates': certificates,
  '0015-retention': retention,
  '0016-schema-floor': schemaFloor,
  '0017-search-reindex': searchReindex,
  '0018-submitting': submitting,
  '0019-people': people,
  '0020-instance': instance,
  '0021-events': events,
  '0022-webhooks': webhooks,
  '0023-spam': spam,
  '0024-submission': submission,
  '0025-updated-at': updatedAt,
}

/** The names of this version's migrations, in the order in which they run. */
export const migrationNames: readonly string[] = Object.keys(migrations)

/**
 * Migrates the schema to this version, and gives the names of the migrations that ran. Processes that start together wait
 * for each other (GET_LOCK). A migration that was interrupted is run again. A schema to which a newer version has only
 * added is left as it is.
 * @throws NewerSchemaError; UnfinishedRestoreError
 */
export async function migrate(db: Db): Promise<readonly string[]> {
  await requireNoUnfinishedRestore(db)
  const newer = await newerMigrations(db, migrationNames)
  if (newer.length > 0) return []
  // The usual start. The migrator would read all columns of all tables twice, which takes a quarter of a second.
  const applied = await appliedMigrations(db)
  if (migrationNames.every(name => applied.includes(name))) return []
  return await migrateUpTo(db, migrationNames.at(-1) ?? '')
}

/** Migrates the schema up to and including one migration: for a restore, whose rows may be an older version's. */
export async function migrateUpTo(db: Db, name: string): Promise<readonly string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } })
  const { error, results } = await migrator.migrateTo(name)
  if (error) throw error
  return (results ?? []).filter(result => result.status === 'Success').map(result => result.migrationName)
}
