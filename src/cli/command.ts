import { UsageError } from '../base/operator-error.ts'
import { commandHelp, groupHelp, type ListingLine, usageOf } from './command/help.ts'
import { type Arguments, type Options, parseArguments, type Values } from './command/parse.ts'
import { suggest } from './command/suggestion.ts'

/** The environment that settings are read from. */
export type Environment = Readonly<Record<string, string | undefined>>

export type OutputFormat = 'text' | 'json'

/** The result of a command: `text` for a person, `json` for a program. */
export interface CommandOutput {
  readonly text: string
  readonly json: unknown
  /** The exit status, 0 by default; another one: the command ran, and reports that something is wrong. */
  readonly status?: number
}

export interface CommandContext {
  readonly env: Environment
  /** Only a command that writes its own output needs it. */
  readonly format: OutputFormat
}

/** A command of `./mailroom`, or a group of them such as `org`. */
export interface Command {
  /** All words that call it: `migrate`, `org`, `org create`. */
  readonly name: string
  /** How to call it; a line for each command of a group. */
  readonly usage: readonly string[]
  /** What `--help` prints. */
  readonly help: string
  /** Its line in `./mailroom --help`; a line for each command of a group. */
  readonly listing: readonly ListingLine[]
  /** The command that `args` call, and the arguments for it. A group resolves to itself where they call none. */
  resolve(args: readonly string[]): ResolvedCommand
  /**
   * Runs it. The caller prints the output; null: the command has written it itself.
   * @throws UsageError when `args` do not fit the definition
   */
  run(args: readonly string[], env: Environment, format?: OutputFormat): Promise<CommandOutput | null>
}

interface ResolvedCommand {
  readonly command: Command
  readonly args: readonly string[]
}

/** One command: argument parsing, `--help` and its line in `./mailroom --help` all come from this. */
export interface CommandDefinition<Args extends Arguments, Opts extends Options> {
  /** All words that call it: `migrate`, `org create`. */
  readonly name: string
  /** What it does, in one line without a period. */
  readonly summary: string
  /** More for `--help`. A blank line ends a paragraph; a line that starts with spaces is printed as it is. */
  readonly details?: string
  /** What is given by position, in this order. */
  readonly arguments?: Args
  readonly options?: Opts
  /** Does it take --json? By default it does. */
  readonly hasJson?: boolean
  run(values: Values<Args, Opts>, context: CommandContext): Promise<CommandOutput | null>
}

export function defineCommand<
  const Args extends Arguments = Readonly<Record<never, never>>,
  const Opts extends Options = Readonly<Record<never, never>>,
>(definition: CommandDefinition<Args, Opts>): Command {
  const { name, summary, arguments: positional = {}, options = {} } = definition
  const usage = usageOf(definition)
  const command: Command = {
    name,
    usage: [usage.full],
    help: commandHelp(definition),
    listing: [{ call: usage.short, summary }],
    resolve: args => ({ command, args }),
    run: async (args, env, format = 'text') =>
      definition.run(parseArguments(args, positional, options) as Values<Args, Opts>, { env, format }),
  }
  return command
}

/**
 * Commands that share their first word. The one whose name is that word alone runs where no other is named. `notes` is
 * what `--help` says of all of them, in the form of {@link CommandDefinition.details}.
 */
export function defineGroup(name: string, notes: string, commands: readonly Command[]): Command {
  const byWord = new Map(commands.map(command => [command.name.slice(name.length + 1), command]))
  const words = [...byWord.keys()].filter(word => word !== '')
  const group: Command = {
    name,
    usage: commands.flatMap(command => command.usage),
    help: groupHelp(commands, notes),
    listing: commands.flatMap(command => command.listing),
    resolve(args) {
      const [word = '', ...rest] = args
      const named = byWord.get(word)
      if (named) return named.resolve(word === '' ? args : rest)
      return byWord.get('')?.resolve(args) ?? { command: group, args }
    },
    run: async (args, env, format) => {
      const resolved = group.resolve(args)
      if (resolved.command !== group) return resolved.command.run(resolved.args, env, format)
      throw new UsageError(
        args[0] === undefined
          ? `./mailroom ${name} needs one of: ${words.join(', ')}`
          : `"${args[0]}" is not a command of ./mailroom ${name}${suggest(args[0], words)}`,
      )
    },
  }
  return group
}
