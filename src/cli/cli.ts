import { ConfigError } from '../base/config/config.ts'
import { isDatabaseTrouble } from '../base/database/database.ts'
import { UnfinishedRestore } from '../base/database/restores-table.ts'
import { NewerSchema } from '../base/database/schema-version.ts'
import { CommandTrouble, UsageTrouble } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { UnknownSecretKey } from '../base/secrets/secret-keys.ts'
import { version } from '../base/version.ts'
import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { bench } from './bench.ts'
import { brand } from './brand.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { domain } from './domain.ts'
import { key } from './key.ts'
import { member } from './member.ts'
import { messages } from './messages.ts'
import { migrateTables } from './migrate.ts'
import { org } from './org.ts'
import { quarantine } from './quarantine.ts'
import { queue } from './queue.ts'
import { restore } from './restore.ts'
import { retention } from './retention.ts'
import { serveAll } from './serve.ts'
import { suppressions } from './suppressions.ts'
import { up } from './up.ts'

const commands = new Map<string, Command>([
  ['up', up],
  ['serve', serveAll],
  ['migrate', migrateTables],
  ['org', org],
  ['key', key],
  ['member', member],
  ['domain', domain],
  ['brand', brand],
  ['suppressions', suppressions],
  ['queue', queue],
  ['quarantine', quarantine],
  ['messages', messages],
  ['audit', audit],
  ['backup', backup],
  ['restore', restore],
  ['retention', retention],
  ['doctor', doctor],
  ['bench', bench],
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
      rest.filter(each => each !== '--json'),
      process.env,
      form,
    )
    if (!told) return 0
    await print(form === 'json' ? JSON.stringify(told.json) : told.text)
    return told.status ?? 0
  } catch (error) {
    if (error instanceof UsageTrouble) return complain(`${error.message}.\n\n${command.usage}`, 2)
    if (isOfTheSetUp(error)) return complain(error.message, 2)
    if (error instanceof CommandTrouble || error instanceof Refusal) return complain(error.message, 1)
    if (isSystemTrouble(error)) return complain(`${error.message}.`, 1)
    if (isDatabaseTrouble(error)) return complain(`the database cannot be used: ${(error as Error).message}.`, 1)
    throw error
  }
}

/** What an operator set up does not go together. */
function isOfTheSetUp(error: unknown): error is Error {
  return [ConfigError, UnknownSecretKey, UnfinishedRestore, NewerSchema].some(kind => error instanceof kind)
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
