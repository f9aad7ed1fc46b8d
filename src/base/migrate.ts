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

/** In the order they run. A migration that was released is never edited. */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-search': search,
  '0003-interface': interface_,
  '0004-search-blocks': searchBlocks,
  '0005-dns-providers': dnsProviders,
  '0006-reports': reports,
  '0007-providers': providers,
  '0008-domains': domains,
}

/**
 * Brings the tables up to this version and gives the names of the migrations that ran. Processes that start together
 * wait for each other (GET_LOCK). A run that died half way is taken up again.
 * @throws when the database was migrated by a newer version.
 */
export async function migrate(db: Db): Promise<readonly string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } })
  const { error, results } = await migrator.migrateToLatest()
  if (error) throw error
  return (results ?? []).filter(each => each.status === 'Success').map(each => each.migrationName)
}
