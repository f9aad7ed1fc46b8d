const levels: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/**
 * A line of the log as a person reads it: the time, the level, what happened, then `key=value`, in quotes where that is
 * needed. Still one line: what would move the cursor, break the line or turn the direction of the text is escaped.
 */
export function formatLogLine(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>
  const shown = Object.entries(facts).flatMap(([key, value]) => partsOf(key, value))
  return `${[time, (levels[Number(level)] ?? String(level)).padEnd(5), msg, ...shown].map(part => visible(String(part))).join(' ')}\n`
}

/** What an error holds stands below its key, the stack last. */
function partsOf(key: string, value: unknown): readonly string[] {
  if (key !== 'err' || typeof value !== 'object' || value === null) return [`${key}=${written(value)}`]
  const { stack, ...rest } = value as Record<string, unknown>
  const said = Object.entries(rest).map(([name, each]) => `err.${name}=${written(each)}`)
  return stack === undefined ? said : [...said, `err.stack=${written(stack)}`]
}

function written(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^[^\s"=\\]+$/.test(value) ? value : JSON.stringify(value)
}

/** Control characters (C0, DEL, C1), invisible format characters, and what some take for the end of a line. */
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

function visible(text: string): string {
  return text.replace(invisible, value => `\\u{${(value.codePointAt(0) ?? 0).toString(16)}}`)
}
