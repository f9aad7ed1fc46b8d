import { ConfigError } from '../../base/config/config.ts'
import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { UnfinishedRestoreError } from '../../base/database/restores-table.ts'
import { NewerSchemaError } from '../../base/database/schema-version.ts'
import { CommandError } from '../../base/operator-error.ts'
import { Refusal } from '../../base/refusal.ts'
import { UnknownSecretKeyError } from '../../base/secrets/secret-keys.ts'

/** What an operator is shown of an error, and the exit status: 1 failed, 2 something has to be set right first. */
export interface CommandFailure {
  readonly text: string
  readonly status: 1 | 2
}

/** undefined: it is a bug. */
export function describeFailure(error: unknown): CommandFailure | undefined {
  if (isSetupError(error)) return { text: error.message, status: 2 }
  if (error instanceof CommandError || error instanceof Refusal) return { text: error.message, status: 1 }
  if (isSystemError(error)) return { text: error.message, status: 1 }
  if (isDatabaseUnavailable(error))
    return { text: `the database cannot be used: ${(error as Error).message}`, status: 1 }
  return undefined
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

/** Writes a failure to standard error; gives the exit status. */
export async function complain(text: string, status: number): Promise<number> {
  await Bun.write(Bun.stderr, `mailroom: ${sentence(text)}\n`)
  return status
}

export function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`
}
