import { parseArgs } from 'node:util'
import { UsageError } from '../../base/operator-error.ts'
import { suggest } from './suggestion.ts'

/** A text that the caller gives, as a command defines it. */
interface Input {
  /** What stands for the text in usage lines: `FILE`, `csv|ndjson`. */
  readonly placeholder: string
  readonly description?: string
  /** Turns the text into a value. @throws UsageError */
  readonly read?: (text: string) => unknown
  /** Takes any number of texts. */
  readonly repeatable?: true
}

/** Something given by its position. It is required, unless it is repeatable. */
export type Argument = Input

/** `--name VALUE`. A repeatable one also takes several values with commas between them. */
interface ValueOption extends Input {
  readonly description: string
  readonly required?: true
  /** The text that is read where none is given. */
  readonly default?: string
}

/** `--name`, true where it is given. */
interface Flag {
  readonly placeholder?: undefined
  readonly description: string
}

export type Option = ValueOption | Flag
export type Arguments = Readonly<Record<string, Argument>>
export type Options = Readonly<Record<string, Option>>

type ReadValue<Given> = Given extends { readonly read: (text: string) => infer Value } ? Value : string

type ArgumentValue<Given> = Given extends { readonly repeatable: true } ? readonly ReadValue<Given>[] : ReadValue<Given>

type OptionValue<Given> = Given extends { readonly placeholder: string }
  ? Given extends { readonly repeatable: true }
    ? readonly ReadValue<Given>[] | undefined
    : Given extends { readonly required: true } | { readonly default: string }
      ? ReadValue<Given>
      : ReadValue<Given> | undefined
  : boolean

/** What a command runs with: its arguments and options by their names. */
export type Values<Args extends Arguments, Opts extends Options> = {
  readonly [Name in keyof Args]: ArgumentValue<Args[Name]>
} & { readonly [Name in keyof Opts]: OptionValue<Opts[Name]> }

/** @throws UsageError when `args` do not fit */
export function parseArguments(
  args: readonly string[],
  positional: Arguments,
  options: Options,
): Readonly<Record<string, unknown>> {
  const { values, positionals } = split(args, options)
  return { ...readArguments(positionals, positional), ...readOptions(values, options) }
}

type Texts = string | boolean | readonly (string | boolean)[] | undefined

function split(args: readonly string[], options: Options) {
  const names = Object.entries(options).map(([name, option]) => {
    if (option.placeholder === undefined) return [name, { type: 'boolean' as const }]
    return [name, { type: 'string' as const, multiple: option.repeatable ?? false }]
  })
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(names), allowPositionals: true, strict: true })
  } catch (error) {
    const [sentence = 'the arguments cannot be read'] = (error as Error).message.split(/[.\n]/)
    const [, unknown] = /^Unknown option '(--?[^']*)'/.exec(sentence) ?? []
    const known = Object.keys(options).map(name => `--${name}`)
    throw new UsageError(unknown === undefined ? sentence : `${sentence}${suggest(unknown, known)}`)
  }
}

function readArguments(texts: readonly string[], positional: Arguments): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  let position = 0
  for (const [name, { placeholder, read = asIs, repeatable }] of Object.entries(positional)) {
    const text = texts[position]
    if (!repeatable && text === undefined) throw new UsageError(`${placeholder} is missing`)
    values[name] = repeatable ? texts.slice(position).map(given => read(given)) : read(text ?? '')
    position = repeatable ? texts.length : position + 1
  }
  if (texts.length > position) throw new UsageError(`"${texts[position]}" is one argument too many`)
  return values
}

function readOptions(texts: Readonly<Record<string, Texts>>, options: Options): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, readOption(name, option, texts[name])]),
  )
}

function readOption(name: string, option: Option, given: Texts): unknown {
  if (option.placeholder === undefined) return given === true
  const text = given ?? option.default
  if (text === undefined && option.required) throw new UsageError(`--${name} is missing`)
  if (text === undefined) return undefined
  const read = (part: string) => explained(name, () => (option.read ?? asIs)(part))
  return option.repeatable ? partsOf([text].flat()).map(read) : read(String(text))
}

/** `--brand A --brand B,C` has three. */
function partsOf(texts: readonly (string | boolean)[]): readonly string[] {
  return texts.flatMap(text => String(text).split(',')).map(part => part.trim())
}

/** Names the option that a complaint is about. */
function explained<Value>(name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${name}: ${error.message}`)
    throw error
  }
}

function asIs(text: string): string {
  return text
}
