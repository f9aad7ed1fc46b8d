import { parseArgs } from 'node:util'
import { readConfig } from '../base/config/config.ts'
import { type Db, openDatabase } from '../base/database/database.ts'
import { UsageError } from '../base/operator-error.ts'

/** The environment that settings are read from. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What a command has to tell: `text` for a person, `json` for a program. */
export interface CommandOutput {
  readonly text: string
  readonly json: unknown
  /** The exit status; 0 where nothing is said: 1 when what it tells is that something is not as it should be. */
  readonly status?: 0 | 1
}

/** One command of the operator's. */
export interface Command {
  /** What `--help` prints. */
  readonly usage: string
  /**
   * Does it. What it gives back is printed, as JSON where `--json` was given; null: it has said all itself, in the `form`
   * that was asked for.
   */
  run(args: readonly string[], env: Environment, form?: 'text' | 'json'): Promise<CommandOutput | null>
}

/** What a command was called with. */
export interface ParsedArguments {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  /** What each of the options that may come several times holds: `--brand A --brand B,C` has three. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>
  readonly flags: ReadonlySet<string>
}

/** What a command takes. */
interface ArgumentNames {
  /** What each word stands for, in order; all are required. */
  readonly words?: readonly string[]
  /** May more words follow? */
  readonly rest?: boolean
  /** Options with a value. */
  readonly options?: readonly string[]
  /** Options with a value that may come several times, or hold several values with commas between. */
  readonly lists?: readonly string[]
  /** Options without one. */
  readonly flags?: readonly string[]
}

/** @throws UsageError when the arguments are not what the command takes. */
export function readArguments(args: readonly string[], takes: ArgumentNames): ParsedArguments {
  const { words: expected = [], rest = false, options = [], lists = [], flags = [] } = takes
  const { values, positionals } = parse(args, {
    ...Object.fromEntries(options.map(name => [name, { type: 'string' as const }])),
    ...Object.fromEntries(lists.map(name => [name, { type: 'string' as const, multiple: true }])),
    ...Object.fromEntries(flags.map(name => [name, { type: 'boolean' as const }])),
  })
  const missing = expected[positionals.length]
  if (missing) throw new UsageError(`${missing} is absent`)
  if (positionals.length > expected.length && !rest)
    throw new UsageError(`"${positionals[expected.length]}" is one word too many`)
  const texts = Object.entries(values).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  const several = Object.entries(values).flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, parts(value)]] : [],
  )
  return {
    words: positionals,
    options: Object.fromEntries(texts),
    lists: Object.fromEntries(several),
    flags: new Set(Object.keys(values).filter(name => values[name] === true)),
  }
}

function parts(values: readonly (string | boolean)[]): readonly string[] {
  return values.flatMap(value => String(value).split(',')).map(part => part.trim())
}

function parse(
  args: readonly string[],
  options: Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }>,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError((error as Error).message.split('.')[0] ?? 'the arguments cannot be read')
  }
}

/** Runs `work` on the database of the settings, and closes it. */
export async function withDatabase<Result>(env: Environment, work: (db: Db) => Promise<Result>): Promise<Result> {
  // What a relay needs is not asked of a command that relays nothing.
  const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  const { db, close } = openDatabase(config.databaseUrl, 2)
  try {
    return await work(db)
  } finally {
    await close()
  }
}
