import { batched } from '../../base/concurrency/batch.ts'
import type { Db } from '../../base/database/database.ts'
import { maxChain } from './cname-chain.ts'
import type { DnsAnswer, LookupOptions, RecordData, RecordType, Resolver } from './port.ts'
import { type LocalNameRecords, type LocalRecord, selectLocalNames } from './table.ts'
import { canonicalName, isValidName } from './wire-format.ts'

/**
 * A {@link Resolver} that answers names at and below `.test` from the `local` zone in the database, nothing kept, and
 * all others from `others`. A CNAME may lead from here to there.
 */
export function localResolver(db: Db, others: Resolver): Resolver {
  const lookUp = batched({ maxItems: 50, maxInFlight: 2 }, (names: readonly string[]) => selectLocalNames(db, names))

  async function resolveLocal(name: string, type: RecordType, question?: LookupOptions): Promise<DnsAnswer<unknown>> {
    const passed = new Set<string>()
    let here = name
    for (;;) {
      if (!isLocal(here)) return others.resolve(here, type, question)
      const held: LocalNameRecords = isAsciiName(here) ? await lookUp(here) : { records: [], exists: false }
      const alias = held.records.find(record => record.type === 'CNAME')
      if (!alias || type === 'CNAME') return answerFrom(held, type)
      passed.add(here)
      here = canonicalName(alias.value)
      if (passed.has(here)) return { kind: 'failed', why: `CNAME loop at ${here}` }
      if (passed.size > maxChain) return { kind: 'failed', why: `more than ${maxChain} CNAMEs` }
    }
  }

  return {
    async resolve<Type extends RecordType>(asked: string, type: Type, question?: LookupOptions) {
      const name = canonicalName(asked)
      const answer = isLocal(name)
        ? await resolveLocal(name, type, question)
        : await others.resolve(asked, type, question)
      return answer as DnsAnswer<RecordData[Type]>
    },
  }
}

function isLocal(name: string): boolean {
  return name === 'test' || name.endsWith('.test')
}

/** The table holds ASCII only. */
function isAsciiName(name: string): boolean {
  return isValidName(name) && Buffer.byteLength(name) === name.length
}

function answerFrom({ records, exists }: LocalNameRecords, type: RecordType): DnsAnswer<unknown> {
  const found = records.filter(record => record.type === type)
  if (found.length === 0) return { kind: 'none', why: exists ? 'nodata' : 'nxdomain' }
  return {
    kind: 'found',
    records: found.map(dataOf),
    ttlSeconds: Math.min(...found.map(localRecord => localRecord.ttl)),
  }
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
