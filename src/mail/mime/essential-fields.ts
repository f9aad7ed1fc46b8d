import type { RawField } from '../header.ts'
import { declaredCharset, withUtf8Text } from './eight-bit.ts'

const essentialFields = new Set(['from', 'to', 'cc', 'reply-to', 'subject'])
const maxEssentialLength = 16 * 1024

/** A header of only the fields that a summary needs, each truncated so that parsing it is cheap. */
export function essentialsOf(fields: readonly RawField[]): string {
  const charset = declaredCharset(fields)
  const essential = fields.filter(field => essentialFields.has(field.key)).slice(0, 20)
  const lines = essential.map(field => withUtf8Text(field, charset))
  return `${lines.map(line => line.line.slice(0, maxEssentialLength)).join('\r\n')}\r\n\r\n`
}
