import type { DnsRecord } from './types.ts'

const maxStringLength = 255

/** The records as lines of a zone file (RFC 1035 §5.1), for DNS hosts that import one. */
export function toZoneFile(
  records: readonly Pick<DnsRecord, 'type' | 'name' | 'value' | 'priority' | 'ttl'>[],
): string {
  return records
    .map(({ type, name, value, priority, ttl }) => `${name}. ${ttl} IN ${type} ${formatValue(type, value, priority)}\n`)
    .join('')
}

function formatValue(type: string, value: string, priority: number | null): string {
  if (type === 'TXT') return splitText(value).map(quote).join(' ')
  return type === 'MX' ? `${priority ?? 10} ${value}.` : `${value}.`
}

/** A TXT record consists of strings of at most 255 bytes each. */
function splitText(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${maxStringLength}}`, 'g')) ?? ['']
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
