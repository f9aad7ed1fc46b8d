import { type Instant, millisecondsOf } from '../../../base/clock.ts'
import { stableToken } from '../../../base/ids.ts'
import { canonicalName } from '../../resolver/names.ts'
import { canonicalIpv6 } from '../names.ts'
import type { ExistingRecord, ZoneRecord } from '../port.ts'
import { quoteText, unquoteText } from '../txt-quoting.ts'
import type { RrSet, RrSetComment } from './api.ts'

/**
 * What PowerDNS cannot store in a record, kept as JSON in a comment of the record's set. A note whose record somebody
 * changed by other means belongs to no record any more.
 */
export interface RecordNote {
  readonly id: string
  /** {@link contentToken} of its record. */
  readonly token: string
  readonly mark: string | null
  readonly created: Instant | null
  readonly updated: Instant
}

/** A record, and where it is in its set. */
export interface PlacedRecord {
  readonly set: RrSet
  readonly index: number
  readonly record: ExistingRecord
  readonly note: RecordNote | undefined
}

const types: readonly string[] = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] satisfies ZoneRecord['type'][]
/** The account of our comments: PowerDNS's own field for who wrote one. */
const account = 'mailroom'

/** The records of these sets that are enabled and of a supported type, oldest first. */
export function readSets(sets: readonly RrSet[]): readonly PlacedRecord[] {
  const placed = sets.filter(set => types.includes(set.type)).flatMap(readSet)
  const notedIds = new Set(placed.flatMap(({ note }) => note?.id ?? []))
  return placed
    .map(record => (record.note || !notedIds.has(record.record.id) ? record : withOtherId(record)))
    .toSorted((one, other) => createdMs(one) - createdMs(other))
}

/** A record that we updated keeps its id; a later record with the content that it had before needs another id. */
function withOtherId(placed: PlacedRecord): PlacedRecord {
  return { ...placed, record: { ...placed.record, id: stableToken(placed.record.id) } }
}

/** When it was created; 0 where that is unknown, so that it counts as the oldest. */
function createdMs({ note }: PlacedRecord): number {
  return note?.created ? millisecondsOf(note.created) : 0
}

function readSet(set: RrSet): readonly PlacedRecord[] {
  const notes = set.comments.map(readNote)
  return set.records.flatMap(({ content, disabled }, index) => {
    const record = disabled ? undefined : readRecord(set, content)
    if (!record) return []
    const token = contentToken(record)
    const note = notes.find(candidate => candidate?.token === token)
    const { id = token, mark = null, created = null, updated = null } = note ?? {}
    return [{ set, index, note, record: { ...record, id, mark, createdAt: created, updatedAt: updated } }]
  })
}

function readRecord({ name, type, ttl }: RrSet, content: string): ZoneRecord | undefined {
  const record = { name: canonicalName(name), ttlSeconds: ttl, priority: null }
  switch (type) {
    case 'A':
      return { ...record, type, value: content }
    case 'AAAA':
      return { ...record, type, value: canonicalIpv6(content) }
    case 'CNAME':
      return { ...record, type, value: canonicalName(content) }
    case 'TXT':
      return { ...record, type, value: unquoteText(content) }
    case 'MX': {
      const [priority, exchange = ''] = content.split(/\s+/)
      return { ...record, type, value: canonicalName(exchange) || '.', priority: Number(priority) }
    }
    default:
      return undefined
  }
}

/** The record's value in zone file format. */
export function contentOf({ type, value, priority }: ZoneRecord): string {
  switch (type) {
    case 'A':
    case 'AAAA':
      return value
    case 'CNAME':
      return `${value}.`
    case 'TXT':
      return quoteText(value)
    case 'MX':
      return `${priority} ${value === '.' ? '.' : `${value}.`}`
    default:
      return type satisfies never
  }
}

/** A token of what the record holds, however it is written. */
export function contentToken({ type, name, value, priority }: ZoneRecord): string {
  return stableToken(JSON.stringify([type, name, value, priority]))
}

/** The set with other records: comments stay, except our notes of records that are gone. */
export function withRecords(
  { name, type, ttl, comments }: RrSet,
  records: RrSet['records'],
  change: { readonly ttl?: number; readonly note?: RecordNote } = {},
): RrSet {
  const { note } = change
  const set = { name, type, ttl: change.ttl ?? ttl, records, comments: [] }
  const tokens = new Set(readSet(set).map(({ record }) => contentToken(record)))
  const remaining = comments.filter(comment => {
    const old = readNote(comment)
    return comment.account !== account || (old && old.token !== note?.token && tokens.has(old.token))
  })
  return { ...set, comments: note ? [...remaining, writeNote(note)] : remaining }
}

function writeNote(note: RecordNote): RrSetComment {
  return { account, content: JSON.stringify(note) }
}

function readNote({ account: writer, content }: RrSetComment): RecordNote | undefined {
  if (writer !== account) return undefined
  try {
    const note = JSON.parse(content) as Partial<RecordNote> | null
    const isComplete =
      typeof note?.id === 'string' && typeof note.token === 'string' && typeof note.updated === 'string'
    return isComplete ? (note as RecordNote) : undefined
  } catch {
    return undefined
  }
}
