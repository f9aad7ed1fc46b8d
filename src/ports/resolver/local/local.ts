import { batched } from '../../../base/concurrency/batch.ts'
import type { Db } from '../../../base/database/database.ts'
import { canonicalName, isValidName } from '../names.ts'
import {
  type DnsAnswer,
  type LookupOptions,
  maxCnames,
  type RecordData,
  type RecordType,
  type Resolver,
} from '../port.ts'
import { type LocalNameRecords, type LocalRecord, selectLocalNames } from './table.ts'

/**
 * A {@link Resolver} that answers for names at and below `.test` from the `local` zone in the database, without a cache,
 * and passes all other names on to `upstream`. A CNAME may lead from the local zone to any other name.
 */
export function localResolver(db: Db, upstream: Resolver): Resolver {
  const selectName = batched({ maxItems: 50, maxInFlight: 2 }, (names: readonly string[]) =>
    selectLocalNames(db, names),
  )

  async function resolveLocal(name: string, type: RecordType, options?: LookupOptions): Promise<DnsAnswer<unknown>> {
    const visited = new Set<string>()
    let current = name
    for (;;) {
      if (!isLocal(current)) return upstream.resolve(current, type, options)
      const found: LocalNameRecords = isAsciiName(current) ? await selectName(current) : { records: [], exists: false }
      const cname = found.records.find(record => record.type === 'CNAME')
      if (!cname || type === 'CNAME') return answerFrom(found, type)
      visited.add(current)
      current = canonicalName(cname.value)
      if (visited.has(current)) return { kind: 'failed', why: `CNAME loop at ${current}` }
      if (visited.size > maxCnames) return { kind: 'failed', why: `more than ${maxCnames} CNAMEs` }
    }
  }

  return {
    async resolve<Type extends RecordType>(name: string, type: Type, options?: LookupOptions) {
      const canonical = canonicalName(name)
      const answer = isLocal(canonical)
        ? await resolveLocal(canonical, type, options)
        : await upstream.resolve(name, type, options)
      return answer as DnsAnswer<RecordData[Type]>
    },
  }
}

function isLocal(name: string): boolean {
  return name === 'test' || name.endsWith('.test')
}

/** The table's column holds ASCII only. */
function isAsciiName(name: string): boolean {
  return isValidName(name) && Buffer.byteLength(name) === name.length
}

function answerFrom({ records, exists }: LocalNameRecords, type: RecordType): DnsAnswer<unknown> {
  const matching = records.filter(record => record.type === type)
  if (matching.length === 0) return { kind: 'none', why: exists ? 'nodata' : 'nxdomain' }
  const ttlSeconds = Math.min(...matching.map(record => record.ttl))
  return { kind: 'found', records: matching.map(dataOf), ttlSeconds }
}

function dataOf(record: LocalRecord): RecordData[Exclude<RecordType, 'TLSA'>] {
  switch (record.type) {
    case 'MX':
      return { priority: record.priority ?? 0, exchange: canonicalName(record.value) }
    case 'CNAME':
    case 'PTR':
      return canonicalName(record.value)
    default:
      return record.value
  }
}
