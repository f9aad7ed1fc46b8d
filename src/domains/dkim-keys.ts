import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { type Instant, toIso } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import { dkimKeysOf } from './table.ts'

const generate = promisify(generateKeyPair)

/** What a message is signed with. */
export interface SigningKey {
  /** The signing domain (d=). */
  readonly domain: string
  /** s=. */
  readonly selector: string
  /** PKCS #8, PEM. */
  readonly privateKey: string
}

/** The keys that sign for each of these domains, the oldest first. A domain that has none, or is gone, is absent. */
export async function signingKeys(
  db: Db,
  domainIds: readonly Id<'dom'>[],
): Promise<ReadonlyMap<Id<'dom'>, readonly SigningKey[]>> {
  const keys = new Map<Id<'dom'>, SigningKey[]>()
  for (const row of await dkimKeysOf(db, domainIds)) {
    const key = { domain: row.domain, selector: row.selector, privateKey: row.private_key }
    const known = keys.get(row.domain_id)
    if (known) known.push(key)
    else keys.set(row.domain_id, [key])
  }
  return keys
}

/**
 * The selector of a domain's first key: `mr1-<date>-<end of the domain's id>`. Organizations that register the same
 * domain need names of their own, and making it twice gives the same one.
 */
export function firstSelector(domainId: Id<'dom'>, createdAt: Instant): string {
  return `mr1-${toIso(createdAt).slice(0, 10).replaceAll('-', '')}-${domainId.slice(-6)}`
}

/** A fresh RSA key of 2048 bits (RFC 8301 §3.2), PKCS #8 in PEM; made off the event loop. */
export async function newPrivateKey(): Promise<string> {
  const { privateKey } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return privateKey
}
