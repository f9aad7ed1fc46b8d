import { LRUCache } from 'lru-cache'
import { batched } from '../../base/concurrency/batch.ts'
import type { Db } from '../../base/database/database.ts'
import type { FindDomain } from './resolve.ts'
import { type SendingDomain, selectDomainsByName } from './table.ts'

const cacheTtlMs = 1000
const maxCachedDomains = 10_000

/**
 * Looks up From's domains: look-ups at the same time share a statement, and a domain that is ready to send is remembered
 * for a second, because sends come in runs. Whether it still is ready is checked in the accepting transaction.
 */
export function openDomainLookup(db: Db): FindDomain {
  const cache = new LRUCache<string, SendingDomain>({ max: maxCachedDomains, ttl: cacheTtlMs })
  const findDomain = batched<Parameters<FindDomain>[0], SendingDomain | undefined>(
    { maxItems: 64, maxInFlight: 1 },
    async names => {
      const domains = await selectDomainsByName(db, names)
      return names.map(name =>
        domains.find(domain => domain.organizationId === name.organizationId && domain.domain === name.domain),
      )
    },
  )
  return async name => {
    const key = `${name.organizationId} ${name.domain}`
    const cached = cache.get(key)
    if (cached) return cached
    const domain = await findDomain(name)
    if (domain?.status === 'verified') cache.set(key, domain)
    else cache.delete(key)
    return domain
  }
}
