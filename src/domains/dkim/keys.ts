import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { type Instant, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import { counter } from '../../base/observability/metrics.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { type DkimKeyRow, selectSigningKeys } from './table.ts'

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

/**
 * The keys that sign for each of these domains, the oldest first. A domain that has none that can be opened, or is gone, is
 * absent.
 */
export type FindSigningKeys = (
  db: Db,
  domainIds: readonly Id<'dom'>[],
) => Promise<ReadonlyMap<Id<'dom'>, readonly SigningKey[]>>

const unopened = counter('mailroom_dkim_keys_unopened_total', 'DKIM keys that no secret key at hand opened.')

/** Finds keys, and opens them with these secrets. */
export function signingKeyFinder(secrets: Secrets): FindSigningKeys {
  return async (db, domainIds) => {
    const keys = new Map<Id<'dom'>, SigningKey[]>()
    for (const row of await selectSigningKeys(db, domainIds)) {
      const privateKey = openedOrNone(row, secrets)
      if (privateKey === undefined) continue
      const key = { domain: row.domain, selector: row.selector, privateKey }
      const known = keys.get(row.domain_id)
      if (known) known.push(key)
      else keys.set(row.domain_id, [key])
    }
    return keys
  }
}

/** One key that cannot be opened holds nobody else's mail up. */
function openedOrNone(row: DkimKeyRow, secrets: Secrets): string | undefined {
  try {
    return openPrivateKey(row, secrets)
  } catch {
    unopened.inc()
    return undefined
  }
}

/** The private key, PKCS #8 in PEM. @throws where no secret key at hand opens it */
export function openPrivateKey(row: DkimKeyRow, secrets: Secrets): string {
  if (row.sealed_by === null) return row.private_key
  return secrets.open({ keyId: row.sealed_by, text: row.private_key }, sealContext(row))
}

/** Where a sealed key stands: nobody can put one domain's key in another's place. */
export function sealContext({ domain_id, selector }: Pick<DkimKeyRow, 'domain_id' | 'selector'>): string {
  return `dkim ${domain_id} ${selector}`
}

/** A key as it is kept. */
export function sealDkimKey(
  key: Pick<DkimKeyRow, 'domain_id' | 'selector' | 'created_at' | 'state' | 'state_since'>,
  privateKey: string,
  secrets: Secrets,
): DkimKeyRow {
  const { keyId, text } = secrets.seal(privateKey, sealContext(key))
  return { ...key, private_key: text, sealed_by: keyId }
}

/**
 * The selector of a domain's first key: `mr1-<date>-<end of the domain's id>`. Organizations that register the same
 * domain need names of their own, and making it twice gives the same one.
 */
export function firstSelector(domainId: Id<'dom'>, createdAt: Instant): string {
  return `mr1-${day(createdAt)}-${domainId.slice(-6)}`
}

/** The selector of a later key: of another name than any before, so that nobody remembers an answer for it. */
export function rotationSelector(createdAt: Instant): string {
  return `mr1-${day(createdAt)}-${newSortableToken().slice(-6)}`
}

function day(at: Instant): string {
  return toIso(at).slice(0, 10).replaceAll('-', '')
}

/** A fresh RSA key of 2048 bits (RFC 8301 §3.2), PKCS #8 in PEM; made off the event loop. */
export async function generatePrivateKey(): Promise<string> {
  const { privateKey } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return privateKey
}
