const levels: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/**
 * Formats a JSON log line for people: time, level, message, then `key=value`, quoted where needed. It stays one line:
 * characters that move the cursor, break the line or change the direction of text are escaped.
 */
export function formatLogLine(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const formatted = Object.entries(fields).flatMap(([key, value]) => formatField(key, value))
  return `${[time, (levels[Number(level)] ?? String(level)).padEnd(5), msg, ...formatted].map(part => escapeInvisible(String(part))).join(' ')}\n`
}

/** An error becomes a field for each of its properties (`err.code=…`), the stack last. */
function formatField(key: string, value: unknown): readonly string[] {
  if (key !== 'err' || typeof value !== 'object' || value === null) return [`${key}=${formatValue(value)}`]
  const { stack, ...rest } = value as Record<string, unknown>
  const formatted = Object.entries(rest).map(([name, property]) => `err.${name}=${formatValue(property)}`)
  return stack === undefined ? formatted : [...formatted, `err.stack=${formatValue(stack)}`]
}

function formatValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^[^\s"=\\]+$/.test(value) ? value : JSON.stringify(value)
}

/** Control characters (C0, DEL, C1), invisible format characters, and the line and paragraph separators of Unicode. */
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

function escapeInvisible(text: string): string {
  return text.replace(invisible, character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
