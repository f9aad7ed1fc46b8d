import { ConfigError } from '../base/config/config.ts'
import { isDatabaseUnavailable } from '../base/database/database.ts'
import { UnfinishedRestoreError } from '../base/database/restores-table.ts'
import { NewerSchemaError } from '../base/database/schema-version.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { UnknownSecretKeyError } from '../base/secrets/secret-keys.ts'
import { version } from '../base/version.ts'
import { suggest } from './command/suggestion.ts'
import type { Command } from './command.ts'
import { commandNames, loadCommand } from './commands.ts'

/** Runs the command that `args` name. The exit status: 0 done, 1 failed, 2 wrong arguments or settings. */
async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--version') return print(version)
  const group = await loadCommand(name)
  if (!group) return complain(`there is no command "${name}"${suggest(name, commandNames)}`, 2)
  const { command, args: commandArgs } = group.resolve(rest.filter(arg => arg !== '--json'))
  if (rest.includes('--help') || rest.includes('-h')) return print(rest[0]?.startsWith('-') ? group.help : command.help)
  const format = rest.includes('--json') ? 'json' : 'text'
  try {
    const output = await command.run(commandArgs, process.env, format)
    if (!output) return 0
    await print(format === 'json' ? JSON.stringify(output.json) : output.text)
    return output.status ?? 0
  } catch (error) {
    if (error instanceof UsageError) return complain(`${sentence(error.message)}\n\n${usageHint(command)}`, 2)
    if (isSetupError(error)) return complain(error.message, 2)
    if (error instanceof CommandError || error instanceof Refusal) return complain(error.message, 1)
    if (isSystemError(error)) return complain(error.message, 1)
    if (isDatabaseUnavailable(error)) return complain(`the database cannot be used: ${(error as Error).message}`, 1)
    throw error
  }
}

/** How to call a command; of a group, only where to read that. */
function usageHint({ name, usage }: Command): string {
  const more = `./mailroom ${name} --help says more.`
  return usage.length > 1 ? more : `${usage[0]}\n\n${more}`
}

/** Are settings, secret key, tables or a restore not in order? Nothing that runs again helps; the operator has to act. */
function isSetupError(error: unknown): error is Error {
  return [ConfigError, UnknownSecretKeyError, UnfinishedRestoreError, NewerSchemaError].some(
    kind => error instanceof kind,
  )
}

/** Something that the system refused, such as a port in use or a directory without write permission; not a connection. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall !== 'connect'
}

async function print(text: string): Promise<number> {
  if (text) await Bun.write(Bun.stdout, `${text}\n`)
  return 0
}

async function complain(text: string, status: number): Promise<number> {
  await Bun.write(Bun.stderr, `mailroom: ${sentence(text)}\n`)
  return status
}

function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`
}

// Exits at once: what is still pending then, such as a timeout of something that has ended, is not waited for.
process.exit(await run(process.argv.slice(2)))
