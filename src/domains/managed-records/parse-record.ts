import type { ConditionalChange } from '../../api/if-updated-at.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import type { ZoneRecord } from '../../ports/dns-zone/port.ts'
import { ownershipPrefix } from '../ownership.ts'
import { parseRecordName } from './record-name.ts'
import { expectedValues, parseRecordValue } from './record-value.ts'

/** A record as it is requested. The name may be relative to the domain. */
export interface NewRecord {
  readonly type: ZoneRecord['type']
  readonly name: string
  readonly value: string
  readonly ttl: number
  readonly priority: number | null
}

/** The fields to change; undefined: unchanged. */
export interface RecordChange extends ConditionalChange {
  readonly name?: string | undefined
  readonly value?: string | undefined
  readonly ttl?: number | undefined
  readonly priority?: number | null | undefined
}

/** The refusals of {@link parseRecord} beyond `invalid_request`. */
export const recordValueRefusals = ['dns_name_not_allowed'] as const

/**
 * The record in its canonical form. Pure.
 * @throws Refusal `invalid_request` with the parameter at fault; `dns_name_not_allowed` for a text that proves ownership
 */
export function parseRecord(request: NewRecord, domain: string): ZoneRecord {
  const { type, ttl } = request
  const name = parseName(request.name, domain)
  const value = parseValue(type, request.value)
  return requireConsistent({ type, name, value, priority: request.priority, ttlSeconds: ttl })
}

/** The record with the changes; unchanged values are not validated again. @throws as {@link parseRecord} */
export function applyRecordChange(before: ZoneRecord, change: RecordChange, domain: string): ZoneRecord {
  const { type } = before
  return requireConsistent({
    type,
    name: change.name === undefined ? before.name : parseName(change.name, domain),
    value: change.value === undefined ? before.value : parseValue(type, change.value),
    priority: change.priority === undefined ? before.priority : change.priority,
    ttlSeconds: change.ttl ?? before.ttlSeconds,
  })
}

function parseName(text: string, domain: string): string {
  const name = parseRecordName(text, domain)
  if (name === undefined) throw invalid('name', `"${text.slice(0, 100)}" is not a valid name of a DNS record.`)
  return name
}

function parseValue(type: ZoneRecord['type'], text: string): string {
  const value = parseRecordValue(type, text)
  if (value === undefined)
    throw invalid('value', `"${text.slice(0, 100)}" is not a valid ${type} value; expected ${expectedValues[type]}.`)
  // At any name: a wildcard or a CNAME could lead the look-up of an ownership record to it.
  if (type === 'TXT' && value.trimStart().startsWith(ownershipPrefix))
    throw refuse('dns_name_not_allowed', {
      message: `A text that starts with "${ownershipPrefix}" proves ownership, and cannot be published here.`,
      param: 'value',
    })
  return value
}

/** The record, after checking that its type, value and priority fit together. */
function requireConsistent(record: ZoneRecord): ZoneRecord {
  const { type, name, value, priority } = record
  if (type === 'CNAME' && value === name) throw invalid('value', `The CNAME ${name} points to itself.`)
  if (type === 'MX' && priority === null) throw invalid('priority', 'An MX record needs a priority, 0 to 65535.')
  if (type !== 'MX' && priority !== null)
    throw invalid('priority', `Only MX records have a priority; ${type} records do not.`)
  return record
}

function invalid(param: string, message: string): Refusal {
  return refuse('invalid_request', { message, param })
}
