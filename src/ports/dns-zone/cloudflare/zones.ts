import type { RecordCreateParams, RecordResponse } from 'cloudflare/resources/dns/records'
import type { Zone as CloudflareZone } from 'cloudflare/resources/zones/zones'
import { fromIso } from '../../../base/clock.ts'
import { canonicalIpv6, canonicalName, isInZone, isSameRecord, zoneNames } from '../names.ts'
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

/** Codes of the API: what is to be written stands there already, or cannot stand beside what does, or is not there. */
const identicalCodes: readonly number[] = [81057, 81058]
const besideCodes: readonly number[] = [81053, 81054]
const absentCodes: readonly number[] = [81044]

/** 1 stands for `automatic`, which is 300 seconds. */
const automaticTtl = 1
const automaticSeconds = 300
const pageSize = 1000
const maxPages = 100
const zoneKeptMs = 60_000
const maxZonesKept = 1000

/**
 * The zones that an API token of Cloudflare may change. The mark is the record's comment. What else a record has there
 * (proxying, tags) is left as it is. At a zone's apex Cloudflare flattens a CNAME, beside which others may stand then.
 */
export function openCloudflare(address: CloudflareAddress): DnsProvider {
  const client = openClient(address)
  const kept = new Map<string, { readonly zone: CloudflareZone; readonly untilMs: number }>()

  async function findZone(domain: string): Promise<CloudflareZone | null> {
    for (const name of zoneNames(domain, 2)) {
      const { result } = await read(() => client.zones.list({ name, status: 'active', per_page: 50 }))
      const zone = result.find(zone => zone.name === name && zone.status === 'active')
      // The records of other kinds of zones are kept elsewhere: they come from a primary, or answer for a few names only.
      if (zone) return zone.type === undefined || zone.type === 'full' ? zone : null
    }
    return null
  }

  return {
    name: 'cloudflare',
    async findZone(domain) {
      const name = canonicalName(domain)
      const known = kept.get(name)
      if (known && known.untilMs > performance.now()) return openZone(known.zone, client)
      const zone = await findZone(name)
      if (!zone) return null
      if (kept.size >= maxZonesKept) kept.clear()
      kept.set(name, { zone, untilMs: performance.now() + zoneKeptMs })
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
    const found: RecordResponse[] = []
    for (let page = 1; page <= maxPages; page++) {
      const filter = name && { name }
      const answer = await read(() => records.list({ zone_id, ...filter, order: 'name', per_page: pageSize, page }))
      found.push(...answer.result)
      const { per_page = pageSize } = answer.result_info
      if (answer.result.length < per_page) return found.flatMap(recordResponse => readRecord(recordResponse) ?? [])
    }
    throw new DnsZoneError(`The zone ${apex} holds more records than are read at once.`)
  }

  async function at(name: string): Promise<readonly ExistingRecord[]> {
    const here = (await list({ exact: canonicalName(name) })).filter(
      existingRecord => existingRecord.name === canonicalName(name),
    )
    return here.toSorted((one, other) => compare(one.createdAt ?? '', other.createdAt ?? ''))
  }

  /** What Cloudflare may take, but DNS does not. */
  async function besideOthers(record: ZoneRecord, except?: string): Promise<WriteResult | undefined> {
    if (!isInZone(record.name, apex)) throw new DnsZoneError(`${record.name} is not in the zone ${apex}.`)
    const others = (await at(record.name)).filter(existingRecord => existingRecord.id !== except)
    const same = others.find(existingRecord => isSameRecord(existingRecord, record))
    if (same) return { kind: 'exists', record: same }
    const inTheWay = others.filter(existingRecord => existingRecord.type === 'CNAME' || record.type === 'CNAME')
    return record.name !== apex && inTheWay.length > 0 ? { kind: 'conflict', existing: inTheWay } : undefined
  }

  async function refusedBy(codes: readonly number[], record: ZoneRecord): Promise<WriteResult | undefined> {
    const isIdentical = codes.some(code => identicalCodes.includes(code))
    if (!isIdentical && !codes.some(code => besideCodes.includes(code))) return undefined
    const existing = await at(record.name)
    const same = existing.find(existingRecord => isSameRecord(existingRecord, record))
    return same ? { kind: 'exists', record: same } : { kind: 'conflict', existing }
  }

  async function written(asked: Promise<RecordResponse>): Promise<WriteResult> {
    const record = readRecord(await asked)
    if (!record) throw new DnsZoneError('Cloudflare gave an answer that cannot be read.')
    return { kind: 'written', record }
  }

  return {
    apex,
    recordsAt: at,
    async recordsUnder(name) {
      const top = canonicalName(name)
      if (top === apex) return list()
      return [...(await at(top)), ...(await list({ endswith: `.${top}` }))].filter(existingRecord =>
        isInZone(existingRecord.name, top),
      )
    },
    async create(record, mark) {
      const beside = await besideOthers(record)
      if (beside) return beside
      const body = { zone_id, ...contentOf(record), ttl: record.ttlSeconds, ...(mark !== null && { comment: mark }) }
      return write<WriteResult>(
        () => written(records.create(body as RecordCreateParams)),
        codes => refusedBy(codes, record),
      )
    },
    async update(id, record, mark) {
      const before = await read<RecordResponse | null>(() => records.get(id, { zone_id }), unlessAbsent)
      if (before === null) return undefined
      const beside = await besideOthers(record, id)
      if (beside) return beside
      const isAutomatic = before.ttl === automaticTtl && record.ttlSeconds === automaticSeconds
      const ttl = isAutomatic || before.proxied ? automaticTtl : record.ttlSeconds
      const body = { zone_id, ...contentOf(record), ttl, comment: mark ?? '' }
      const changed = await write<WriteResult | null>(
        () => written(records.edit(id, body as RecordCreateParams)),
        async codes => unlessAbsent(codes) ?? (await refusedBy(codes, record)),
      )
      return changed ?? undefined
    },
    async remove(id) {
      await write<unknown>(() => records.delete(id, { zone_id }), unlessAbsent)
    },
  }
}

function unlessAbsent(codes: readonly number[]): null | undefined {
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
