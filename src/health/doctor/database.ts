import { migrationNames } from '../../base/database/migrate.ts'
import { requireNoUnfinishedRestore, UnfinishedRestoreError } from '../../base/database/restores-table.ts'
import { NewerSchemaError, newerMigrations } from '../../base/database/schema-version.ts'
import type { DoctorCheck } from './check.ts'
import { selectAppliedMigrations, selectServerVariables } from './database-server-table.ts'
import { databaseSettingsChecks } from './database-settings.ts'
import { error, type Finding, note, ok, warning } from './finding.ts'
import { databaseCheckName } from './run-checks.ts'

const minimumVersion = { MariaDB: [10, 11], MySQL: [8, 4] } as const

const connectionCheck: DoctorCheck = {
  name: databaseCheckName,
  area: 'database',
  async run({ db }) {
    try {
      return versionFinding(await selectServerVariables(db))
    } catch (thrown) {
      return error(
        `the database does not answer: ${(thrown as Error).message}`,
        'See whether it runs, and whether MAILROOM_DATABASE_URL names its address, account, password and database. Until it answers senders are told to come again (451), and nothing is sent.',
      )
    }
  },
}

function versionFinding({
  version = '',
  version_comment = '',
}: {
  version?: string
  version_comment?: string
}): Finding {
  const product = /mariadb/i.test(`${version} ${version_comment}`) ? 'MariaDB' : 'MySQL'
  const [major = 0, minor = 0] = version.split('.').map(value => Number.parseInt(value, 10))
  const [leastMajor, leastMinor] = minimumVersion[product]
  const seen = `${product} ${version}`
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok(seen)
  return error(
    `${seen} is older than what Mailroom is tested with`,
    `Upgrade the server to ${product} ${leastMajor}.${leastMinor} or later.`,
  )
}

const writableCheck: DoctorCheck = {
  name: 'writable',
  area: 'database',
  async run({ db }) {
    const { read_only, super_read_only, innodb_read_only } = await selectServerVariables(db)
    const isOn = (value: string | undefined) => value === 'ON' || value === '1'
    if (isOn(innodb_read_only) || isOn(super_read_only) || isOn(read_only))
      return error(
        'the server is read-only, as a replica is',
        'Name the primary in MAILROOM_DATABASE_URL, or, where this one is to take its place, SET GLOBAL read_only = 0.',
      )
    return ok('the server takes writes')
  },
}

const migrationsCheck: DoctorCheck = {
  name: 'migrations',
  area: 'database',
  async run({ db }) {
    try {
      await requireNoUnfinishedRestore(db)
      const newer = await newerMigrations(db, migrationNames)
      if (newer.length > 0)
        return note(
          `the tables are a newer version’s (${newer.join(', ')}), which only added to them`,
          'Start the newer version again once what spoke against it is mended.',
        )
    } catch (thrown) {
      if (thrown instanceof NewerSchemaError) return error('the tables are a newer version’s', thrown.message)
      if (thrown instanceof UnfinishedRestoreError) return error('a restore was broken off', thrown.message)
      throw thrown
    }
    const done = await selectAppliedMigrations(db)
    const pending = migrationNames.filter(migrationName => !done.includes(migrationName))
    if (done.length === 0)
      return note('there are no tables yet', 'They are made by ./mailroom migrate, or when it serves.')
    if (pending.length > 0)
      return warning(
        `not done yet: ${pending.join(', ')}`,
        'Run ./mailroom migrate with this version, or start it; where it serves already, its log says why they failed.',
      )
    return ok(`all ${done.length} are done`)
  },
}

export const databaseChecks: readonly DoctorCheck[] = [
  connectionCheck,
  ...databaseSettingsChecks,
  writableCheck,
  migrationsCheck,
]
