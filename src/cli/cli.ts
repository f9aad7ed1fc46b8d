import { ConfigError } from '../base/config/config.ts'
import { isDatabaseUnavailable } from '../base/database/database.ts'
import { UnfinishedRestoreError } from '../base/database/restores-table.ts'
import { NewerSchemaError } from '../base/database/schema-version.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { UnknownSecretKeyError } from '../base/secrets/secret-keys.ts'
import { version } from '../base/version.ts'
import { auditCommand } from './audit.ts'
import { backupCommand } from './backup.ts'
import { benchCommand } from './bench.ts'
import { brandCommand } from './brand.ts'
import type { Command } from './command.ts'
import { doctorCommand } from './doctor.ts'
import { domainCommand } from './domain.ts'
import { keyCommand } from './key.ts'
import { memberCommand } from './member.ts'
import { messagesCommand } from './messages.ts'
import { migrateCommand } from './migrate.ts'
import { orgCommand } from './org.ts'
import { quarantineCommand } from './quarantine.ts'
import { queueCommand } from './queue.ts'
import { restoreCommand } from './restore.ts'
import { retentionCommand } from './retention.ts'
import { serveCommand } from './serve.ts'
import { suppressionsCommand } from './suppressions.ts'
import { upCommand } from './up.ts'

const commands = new Map<string, Command>([
  ['up', upCommand],
  ['serve', serveCommand],
  ['migrate', migrateCommand],
  ['org', orgCommand],
  ['key', keyCommand],
  ['member', memberCommand],
  ['domain', domainCommand],
  ['brand', brandCommand],
  ['suppressions', suppressionsCommand],
  ['queue', queueCommand],
  ['quarantine', quarantineCommand],
  ['messages', messagesCommand],
  ['audit', auditCommand],
  ['backup', backupCommand],
  ['restore', restoreCommand],
  ['retention', retentionCommand],
  ['doctor', doctorCommand],
  ['bench', benchCommand],
])

/** Runs the command that `args` names and gives the exit status: 0 done, 1 could not be done, 2 called or set up wrongly. */
async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--version') return print(version)
  const command = commands.get(name)
  if (!command) return complain(`there is no command "${name}"; ./mailroom --help lists them.`, 2)
  if (rest.includes('--help') || rest.includes('-h')) return print(command.usage)
  const form = rest.includes('--json') ? 'json' : 'text'
  try {
    const told = await command.run(
      rest.filter(value => value !== '--json'),
      process.env,
      form,
    )
    if (!told) return 0
    await print(form === 'json' ? JSON.stringify(told.json) : told.text)
    return told.status ?? 0
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}.\n\n${command.usage}`, 2)
    if (isOfTheSetUp(error)) return complain(error.message, 2)
    if (error instanceof CommandError || error instanceof Refusal) return complain(error.message, 1)
    if (isSystemTrouble(error)) return complain(`${error.message}.`, 1)
    if (isDatabaseUnavailable(error)) return complain(`the database cannot be used: ${(error as Error).message}.`, 1)
    throw error
  }
}

/** What an operator set up does not go together. */
function isOfTheSetUp(error: unknown): error is Error {
  return [ConfigError, UnknownSecretKeyError, UnfinishedRestoreError, NewerSchemaError].some(
    kind => error instanceof kind,
  )
}

/** A port that is taken, a folder that may not be written: what the system refused, apart from connections. */
function isSystemTrouble(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall !== 'connect'
}

async function print(text: string): Promise<number> {
  if (text) await Bun.write(Bun.stdout, `${text}\n`)
  return 0
}

async function complain(text: string, status: number): Promise<number> {
  await Bun.write(Bun.stderr, `mailroom: ${text}\n`)
  return status
}

// What still waits then, such as the time limit of something that has ended long since, is not waited for.
process.exit(await run(process.argv.slice(2)))
