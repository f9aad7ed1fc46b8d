import { type Instant, millisecondsOf } from '../../../base/clock.ts'
import { stableToken } from '../../../base/ids.ts'
import { canonicalIpv6, canonicalName } from '../names.ts'
import type { ExistingRecord, ZoneRecord } from '../port.ts'
import { quoteText, unquoteText } from '../txt-quoting.ts'
import type { RrSet, RrSetComment } from './api.ts'

/**
 * What PowerDNS has no place for in a record, kept in a comment beside the record's set. Once somebody changes the record
 * by other means it speaks of nothing any more.
 */
export interface RecordNote {
  readonly id: string
  /** Of the record that it speaks of. */
  readonly token: string
  readonly mark: string | null
  readonly created: Instant | null
  readonly updated: Instant
}

/** A record, and its place in its set. */
export interface PlacedRecord {
  readonly set: RrSet
  readonly index: number
  readonly record: ExistingRecord
  readonly note: RecordNote | undefined
}

const types: readonly string[] = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] satisfies ZoneRecord['type'][]
/** Who wrote a comment, in PowerDNS's own field for that. */
const account = 'mailroom'

/** The records of these sets that are in force and of a type that we know, the oldest first. */
export function readSets(sets: readonly RrSet[]): readonly PlacedRecord[] {
  const placed = sets.filter(set => types.includes(set.type)).flatMap(readSet)
  const noted = new Set(placed.flatMap(placedRecord => placedRecord.note?.id ?? []))
  return placed
    .map(placedRecord =>
      placedRecord.note || !noted.has(placedRecord.record.id) ? placedRecord : renamed(placedRecord),
    )
    .toSorted((one, other) => ageOf(one) - ageOf(other))
}

/** A record that we changed kept its id; another one like it was before that change is another one. */
function renamed(placed: PlacedRecord): PlacedRecord {
  return { ...placed, record: { ...placed.record, id: stableToken(placed.record.id) } }
}

function ageOf({ note }: PlacedRecord): number {
  return note?.created ? millisecondsOf(note.created) : 0
}

function readSet(set: RrSet): readonly PlacedRecord[] {
  const notes = set.comments.map(readNote)
  return set.records.flatMap(({ content, disabled }, index) => {
    const read = disabled ? undefined : readRecord(set, content)
    if (!read) return []
    const token = contentToken(read)
    const note = notes.find(note => note?.token === token)
    const { id = token, mark = null, created = null, updated = null } = note ?? {}
    return [{ set, index, note, record: { ...read, id, mark, createdAt: created, updatedAt: updated } }]
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

/** The record's value in the form of a zone file. */
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

/** Stands for what a record says, however it is written. */
export function contentToken({ type, name, value, priority }: ZoneRecord): string {
  return stableToken(JSON.stringify([type, name, value, priority]))
}

/** The set with other records, its comments kept but for our notes of records that are not there any more. */
export function withRecords(
  { name, type, ttl, comments }: RrSet,
  records: RrSet['records'],
  change: { readonly ttl?: number; readonly note?: RecordNote } = {},
): RrSet {
  const { note } = change
  const set = { name, type, ttl: change.ttl ?? ttl, records, comments: [] }
  const tokens = new Set(readSet(set).map(placedRecord => contentToken(placedRecord.record)))
  const kept = comments.filter(comment => {
    const kept = readNote(comment)
    return comment.account !== account || (kept && kept.token !== note?.token && tokens.has(kept.token))
  })
  return { ...set, comments: note ? [...kept, writeNote(note)] : kept }
}

function writeNote(note: RecordNote): RrSetComment {
  return { account, content: JSON.stringify(note) }
}

function readNote({ account: writer, content }: RrSetComment): RecordNote | undefined {
  if (writer !== account) return undefined
  try {
    const note = JSON.parse(content) as Partial<RecordNote> | null
    const isWhole = typeof note?.id === 'string' && typeof note.token === 'string' && typeof note.updated === 'string'
    return isWhole ? (note as RecordNote) : undefined
  } catch {
    return undefined
  }
}
