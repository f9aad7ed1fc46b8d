import type { RecordCreateParams, RecordResponse } from 'cloudflare/resources/dns/records'
import type { Zone as CloudflareZone } from 'cloudflare/resources/zones/zones'
import { LRUCache } from 'lru-cache'
import { fromIso } from '../../../base/clock.ts'
import { canonicalName } from '../../resolver/names.ts'
import { canonicalIpv6, isInZone, isSameRecord, zoneNames } from '../names.ts'
import {
  type DnsProvider,
  DnsZoneError,
  type ExistingRecord,
  type WriteResult,
  type Zone,
  type ZoneRecord,
} from '../port.ts'
import { quoteText, unquoteText } from '../txt-quoting.ts'
import { type CloudflareAddress, type CloudflareClient, openClient, read, write } from './client.ts'

/** Error codes of the API: the same record exists; the record cannot stand beside another one; there is no such record. */
const identicalCodes: readonly number[] = [81057, 81058]
const conflictCodes: readonly number[] = [81053, 81054]
const absentCodes: readonly number[] = [81044]

/** A TTL of 1 stands for `automatic`, which is 300 seconds. */
const automaticTtl = 1
const automaticSeconds = 300
const pageSize = 1000
const maxPages = 100
const zoneCacheMs = 60_000
const maxCachedZones = 1000

/**
 * The zones that an API token of Cloudflare may change. A record's mark is its comment at Cloudflare. A CNAME at a zone's
 * apex is flattened there, so that other records may stand beside it.
 */
export function openCloudflare(address: CloudflareAddress): DnsProvider {
  const client = openClient(address)
  const zones = new LRUCache<string, CloudflareZone>({ max: maxCachedZones, ttl: zoneCacheMs })

  async function requestZone(domain: string): Promise<CloudflareZone | null> {
    for (const name of zoneNames(domain, 2)) {
      const { result } = await read(() => client.zones.list({ name, status: 'active', per_page: 50 }))
      const zone = result.find(candidate => candidate.name === name && candidate.status === 'active')
      // We cannot change the records of other types of zones: they come from a primary, or cover a few names only.
      if (zone) return zone.type === undefined || zone.type === 'full' ? zone : null
    }
    return null
  }

  return {
    name: 'cloudflare',
    async findZone(domain) {
      const name = canonicalName(domain)
      const zone = zones.get(name) ?? (await requestZone(name))
      if (!zone) return null
      if (!zones.has(name)) zones.set(name, zone)
      return openZone(zone, client)
    },
    checkHealth: () =>
      read(() => client.zones.list({ per_page: 5 })).then(
        () => null,
        (error: Error) => error.message,
      ),
  }
}

type ListFilter = Parameters<CloudflareClient['dns']['records']['list']>[0]['name']

function openZone({ id: zone_id, name: apex }: CloudflareZone, client: CloudflareClient): Zone {
  const { records } = client.dns

  async function list(name?: ListFilter): Promise<readonly ExistingRecord[]> {
    const all: RecordResponse[] = []
    for (let page = 1; page <= maxPages; page++) {
      const filter = name && { name }
      const { result, result_info } = await read(() =>
        records.list({ zone_id, ...filter, order: 'name', per_page: pageSize, page }),
      )
      all.push(...result)
      if (result.length < (result_info.per_page ?? pageSize)) return all.flatMap(record => readRecord(record) ?? [])
    }
    throw new DnsZoneError(`The zone ${apex} holds more than ${maxPages * pageSize} records.`)
  }

  async function recordsAt(name: string): Promise<readonly ExistingRecord[]> {
    const found = await list({ exact: canonicalName(name) })
    const exact = found.filter(record => record.name === canonicalName(name))
    return exact.toSorted((one, other) => compare(one.createdAt ?? '', other.createdAt ?? ''))
  }

  /** Checks what Cloudflare does not refuse but DNS does not allow. `ownId`: the record that is to be replaced. */
  async function findConflict(record: ZoneRecord, ownId?: string): Promise<WriteResult | undefined> {
    if (!isInZone(record.name, apex)) throw new DnsZoneError(`${record.name} is not in the zone ${apex}.`)
    const others = (await recordsAt(record.name)).filter(existing => existing.id !== ownId)
    const same = others.find(existing => isSameRecord(existing, record))
    if (same) return { kind: 'exists', record: same }
    const conflicting = others.filter(existing => existing.type === 'CNAME' || record.type === 'CNAME')
    return record.name !== apex && conflicting.length > 0 ? { kind: 'conflict', existing: conflicting } : undefined
  }

  /** The result for the error codes of a write; undefined: they mean neither a duplicate nor a conflict. */
  async function resultOfCodes(codes: readonly number[], record: ZoneRecord): Promise<WriteResult | undefined> {
    const isIdentical = codes.some(code => identicalCodes.includes(code))
    if (!isIdentical && !codes.some(code => conflictCodes.includes(code))) return undefined
    const existing = await recordsAt(record.name)
    const same = existing.find(other => isSameRecord(other, record))
    return same ? { kind: 'exists', record: same } : { kind: 'conflict', existing }
  }

  async function toWritten(response: Promise<RecordResponse>): Promise<WriteResult> {
    const record = readRecord(await response)
    if (!record) throw new DnsZoneError('Cloudflare sent an unreadable response.')
    return { kind: 'written', record }
  }

  return {
    apex,
    recordsAt,
    async recordsUnder(name) {
      const top = canonicalName(name)
      if (top === apex) return list()
      const records = [...(await recordsAt(top)), ...(await list({ endswith: `.${top}` }))]
      return records.filter(record => isInZone(record.name, top))
    },
    async create(record, mark) {
      const conflict = await findConflict(record)
      if (conflict) return conflict
      const body = { zone_id, ...contentOf(record), ttl: record.ttlSeconds, ...(mark !== null && { comment: mark }) }
      return write<WriteResult>(
        () => toWritten(records.create(body as RecordCreateParams)),
        codes => resultOfCodes(codes, record),
      )
    },
    async update(id, record, mark, readAs) {
      const before = await read<RecordResponse | null>(() => records.get(id, { zone_id }), nullIfAbsent)
      if (before === null) return undefined
      const existing = readRecord(before)
      if (existing && readAs !== undefined && existing.updatedAt !== readAs)
        return { kind: 'changed', record: existing }
      const conflict = await findConflict(record, id)
      if (conflict) return conflict
      const isAutomatic = before.ttl === automaticTtl && record.ttlSeconds === automaticSeconds
      const ttl = isAutomatic || before.proxied ? automaticTtl : record.ttlSeconds
      const body = { zone_id, ...contentOf(record), ttl, comment: mark ?? '' }
      const result = await write<WriteResult | null>(
        () => toWritten(records.edit(id, body as RecordCreateParams)),
        async codes => nullIfAbsent(codes) ?? (await resultOfCodes(codes, record)),
      )
      return result ?? undefined
    },
    async remove(id) {
      await write<unknown>(() => records.delete(id, { zone_id }), nullIfAbsent)
    },
  }
}

function nullIfAbsent(codes: readonly number[]): null | undefined {
  return codes.some(code => absentCodes.includes(code)) ? null : undefined
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function contentOf({ type, name, value, priority }: ZoneRecord) {
  const content = type === 'TXT' ? quoteText(value) : value
  return { type, name, content, ...(priority !== null && { priority }) }
}

function readRecord(found: RecordResponse): ExistingRecord | undefined {
  const { id, type, ttl, comment, content = '', created_on, modified_on } = found
  if (type !== 'A' && type !== 'AAAA' && type !== 'CNAME' && type !== 'MX' && type !== 'TXT') return undefined
  return {
    id,
    type,
    name: canonicalName(found.name),
    value: readValue(type, content),
    priority: type === 'MX' ? (found.priority ?? 0) : null,
    ttlSeconds: ttl === automaticTtl ? automaticSeconds : ttl,
    mark: comment || null,
    createdAt: fromIso(created_on) ?? null,
    updatedAt: fromIso(modified_on) ?? null,
  }
}

function readValue(type: ZoneRecord['type'], content: string): string {
  switch (type) {
    case 'A':
      return content
    case 'AAAA':
      return canonicalIpv6(content)
    case 'CNAME':
    case 'MX':
      return canonicalName(content) || '.'
    case 'TXT':
      return unquoteText(content)
    default:
      return type satisfies never
  }
}
