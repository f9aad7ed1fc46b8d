import { createPublicKey } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createKeyCache, type KeyCache, type PublicKey, toALabel } from 'mailauth/lib/tools.js'
import type { MailauthRecords, MailauthResolve } from './resolver.ts'

const maxKeys = 1000

/** A key record that was read, with all that DNS answered. */
interface ReadKey {
  readonly records: MailauthRecords
  readonly key: PublicKey
}

/** What mailauth made of key records, by their name and by what else the outcome depends on. */
export type ReadKeys = LRUCache<string, ReadKey>

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

  async function look(question: string, ...of: Parameters<KeyCache['get']>): Promise<PublicKey> {
    const [type, name, minBitLength, options] = of
    const records = await resolver(toALabel(name), 'TXT')
    const known = read.get(question)
    if (known && Bun.deepEquals(known.records, records)) return known.key
    // A copy, since mailauth may sort what it is given.
    const key = await createKeyCache(async () => [...records] as MailauthRecords).get(type, name, minBitLength, options)
    // As an object it need not be parsed for each signature.
    const parsed = { ...key, publicKey: createPublicKey(key.publicKey) }
    read.set(question, { records, key: parsed })
    return parsed
  }

  return {
    resolver,
    get(type, name, minBitLength, options) {
      const question = `${minBitLength} ${options.strict} ${options.hashAlgo} ${name}`
      const lookup = lookups.get(question) ?? look(question, type, name, minBitLength, options)
      lookups.set(question, lookup)
      // mailauth asks for the keys of an ARC chain before it waits for them.
      lookup.catch(() => undefined)
      return lookup
    },
  }
}
