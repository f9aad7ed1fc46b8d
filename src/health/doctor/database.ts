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
        'Check that it runs, and that MAILROOM_DATABASE_URL has the right address, account, password and database. Until it answers incoming mail is deferred (451), and nothing is sent.',
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
  const [major = 0, minor = 0] = version.split('.').map(part => Number.parseInt(part, 10))
  const [leastMajor, leastMinor] = minimumVersion[product]
  const seen = `${product} ${version}`
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok(seen)
  return error(
    `${seen} is older than the versions that Mailroom supports`,
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
        'the server is read-only, like a replica',
        'Set MAILROOM_DATABASE_URL to the primary; or, if this server is to become the primary, SET GLOBAL read_only = 0.',
      )
    return ok('the server accepts writes')
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
          `a newer version has migrated the tables (${newer.join(', ')}), in a way that this version works with`,
          'Start the newer version again once the reason to go back to this one is fixed.',
        )
    } catch (thrown) {
      if (thrown instanceof NewerSchemaError) return error('a newer version has migrated the tables', thrown.message)
      if (thrown instanceof UnfinishedRestoreError) return error('a restore was not finished', thrown.message)
      throw thrown
    }
    const applied = await selectAppliedMigrations(db)
    const pending = migrationNames.filter(name => !applied.includes(name))
    if (applied.length === 0)
      return note(
        'there are no tables yet',
        './mailroom migrate creates them, and so does ./mailroom serve when it starts.',
      )
    if (pending.length > 0)
      return warning(
        `not applied yet: ${pending.join(', ')}`,
        'Run ./mailroom migrate with this version, or start it. If it is running already, its log says why they failed.',
      )
    return ok(`all ${applied.length} have been applied`)
  },
}

export const databaseChecks: readonly DoctorCheck[] = [
  connectionCheck,
  ...databaseSettingsChecks,
  writableCheck,
  migrationsCheck,
]
