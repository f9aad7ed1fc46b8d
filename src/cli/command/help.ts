import type { Arguments, Options } from './parse.ts'

const width = 110
const listingColumn = 44
const maxOptionColumn = 28
const margin = '  '

type Rows = readonly (readonly [name: string, description: string])[]

/** A line of `./mailroom --help`. */
export interface ListingLine {
  /** Such as `org create NAME`. */
  readonly call: string
  readonly summary: string
}

interface Listed {
  readonly usage: readonly string[]
  readonly listing: readonly ListingLine[]
}

/** What `--help` needs of a command's definition. */
interface Described {
  readonly name: string
  readonly summary: string
  readonly details?: string
  readonly arguments?: Arguments
  readonly options?: Options
  readonly hasJson?: boolean
}

/** `full`: with all options; `short`: with what is required, its options only hinted at. */
export function usageOf({ name, arguments: positional = {}, options = {}, hasJson = true }: Described) {
  const words = Object.values(positional).map(({ placeholder, repeatable }) =>
    repeatable ? `[${placeholder}...]` : placeholder,
  )
  const all = Object.entries(options)
  const required = all.filter(([, option]) => 'required' in option)
  const optional = all.filter(([, option]) => !('required' in option))
  const full = [
    `./mailroom ${name}`,
    ...words,
    ...required.map(([option, { placeholder }]) => `--${option} ${placeholder}`),
    ...optional.map(([option, definition]) => {
      const { placeholder } = definition
      if (placeholder === undefined) return `[--${option}]`
      return `[--${option} ${placeholder}]${definition.repeatable ? '...' : ''}`
    }),
    ...(hasJson ? ['[--json]'] : []),
  ]
  return { full: wrap(full, '    '), short: [name, ...words, ...(required.length > 0 ? ['...'] : [])].join(' ') }
}

export function commandHelp(described: Described): string {
  const { summary, details, arguments: positional = {}, options = {}, hasJson = true } = described
  const rows: [name: string, description: string][] = [
    ...Object.values(positional).flatMap(({ placeholder, description }) =>
      description === undefined ? [] : [[placeholder, description] as [string, string]],
    ),
    ...Object.entries(options).map(([name, option]) => {
      const call = option.placeholder === undefined ? `--${name}` : `--${name} ${option.placeholder}`
      const usual = 'default' in option ? ` (default: ${option.default})` : ''
      return [call, `${option.description}${usual}`] as [string, string]
    }),
  ]
  if (hasJson && rows.length > 0) rows.push(['--json', 'print the result as JSON'])
  const text = reflow(details === undefined ? `${summary}.` : `${summary}. ${details}`)
  return [
    usageOf(described).full,
    indent(text),
    ...(rows.length > 0 ? ['', ...table(rows, optionColumn(rows))] : []),
  ].join('\n')
}

/** How to call each command of a group, and what it does; then notes about all of them. */
export function groupHelp(commands: readonly Listed[], notes: string): string {
  const calls = commands.map(({ usage, listing }) =>
    [...usage, ...listing.map(({ summary }) => `${margin}${summary}.`)].join('\n'),
  )
  return [...calls, reflow(notes), 'Each of these commands has its own --help.'].join('\n\n')
}

/** Breaks paragraphs into lines. A blank line ends a paragraph; a line that starts with a space stays as it is. */
function reflow(text: string): string {
  const paragraphs: string[] = []
  let isOpen = false
  for (const line of text.trim().split('\n')) {
    const isPlain = line !== '' && !line.startsWith(' ')
    if (isPlain && isOpen) paragraphs.push(`${paragraphs.pop()} ${line}`)
    else paragraphs.push(line)
    isOpen = isPlain
  }
  return paragraphs.map(line => (line.startsWith(' ') ? line : wrap(line.split(' ')))).join('\n')
}

/** The lines of commands in `./mailroom --help`. */
export function listingText(lines: readonly ListingLine[]): string {
  return table(
    lines.map(({ call, summary }) => [`./mailroom ${call}`, summary]),
    listingColumn,
  ).join('\n')
}

function optionColumn(rows: Rows): number {
  return Math.min(Math.max(...rows.map(([name]) => name.length)), maxOptionColumn) + 2
}

/** Two columns, the first `column` characters wide. The second is broken into lines. */
function table(rows: Rows, column: number): readonly string[] {
  const gap = ' '.repeat(column)
  return rows.flatMap(([name, description]) => {
    const [first = '', ...more] = wrap(description.split(/\s+/), '', width - margin.length - column).split('\n')
    const rest = more.map(line => `${margin}${gap}${line}`)
    if (name.length <= column - 2) return [`${margin}${name.padEnd(column)}${first}`, ...rest]
    return [`${margin}${name}`, `${margin}${gap}${first}`, ...rest]
  })
}

/** As many words a line as fit; the lines after the first begin with `hanging`. */
function wrap(words: readonly string[], hanging = '', max = width - margin.length): string {
  let text = ''
  let length = 0
  for (const word of words) {
    const fits = length + 1 + word.length <= max
    const before = text === '' ? '' : fits ? ' ' : `\n${hanging}`
    text += before + word
    length = before.startsWith('\n') ? hanging.length + word.length : length + before.length + word.length
  }
  return text
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, margin)
}
