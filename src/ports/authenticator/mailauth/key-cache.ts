import { createPublicKey } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createKeyCache, type KeyCache, type PublicKey, toALabel } from 'mailauth/lib/tools.js'
import type { MailauthResolve } from './resolver.ts'

const maxKeys = 1000

/** What mailauth made of key records, by the record and by what else the outcome depends on. */
export type ReadKeys = LRUCache<string, PublicKey>

export function newReadKeys(): ReadKeys {
  return new LRUCache({ max: maxKeys })
}

/**
 * Looks up the keys of one message's signatures as mailauth does, but reads a record that was read for an earlier message
 * no second time: that costs more than to verify a signature. The record is asked for each time; one that is refused is read
 * again.
 */
export function newKeyCache(resolver: MailauthResolve, read: ReadKeys): KeyCache {
  const lookups = new Map<string, Promise<PublicKey>>()

  async function look(...[type, name, minBitLength, options]: Parameters<KeyCache['get']>): Promise<PublicKey> {
    const records = await resolver(toALabel(name), 'TXT')
    const question = JSON.stringify([records, minBitLength, options.strict, options.hashAlgo])
    const known = read.get(question)
    if (known) return known
    const key = await createKeyCache(async () => records).get(type, name, minBitLength, options)
    // As an object it need not be parsed for each signature.
    const parsed = { ...key, publicKey: createPublicKey(key.publicKey) }
    read.set(question, parsed)
    return parsed
  }

  return {
    resolver,
    get(type, name, minBitLength, options) {
      const question = JSON.stringify([name, minBitLength, options.strict, options.hashAlgo])
      const lookup = lookups.get(question) ?? look(type, name, minBitLength, options)
      lookups.set(question, lookup)
      // mailauth asks for the keys of an ARC chain before it waits for them.
      lookup.catch(() => undefined)
      return lookup
    },
  }
}
