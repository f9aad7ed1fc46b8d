import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { type Instant, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import { counter } from '../../base/observability/metrics.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { type DkimKeyRow, selectSigningKeys } from './table.ts'

const generate = promisify(generateKeyPair)

/** A DKIM key that signs messages. */
export interface SigningKey {
  /** The signing domain (d=). */
  readonly domain: string
  /** s=. */
  readonly selector: string
  /** PKCS #8, PEM. */
  readonly privateKey: string
}

/**
 * The keys that sign for each of these domains, oldest first. A domain that was deleted, or none of whose keys can be
 * unsealed, is absent.
 */
export type FindSigningKeys = (
  db: Db,
  domainIds: readonly Id<'dom'>[],
) => Promise<ReadonlyMap<Id<'dom'>, readonly SigningKey[]>>

const unopenedTotal = counter(
  'mailroom_dkim_keys_unopened_total',
  'DKIM private keys that none of the configured secret keys could unseal.',
)

/** Finds signing keys and unseals them with these secrets. */
export function signingKeyFinder(secrets: Secrets): FindSigningKeys {
  return async (db, domainIds) => {
    const keys = new Map<Id<'dom'>, SigningKey[]>()
    for (const row of await selectSigningKeys(db, domainIds)) {
      const privateKey = tryOpenPrivateKey(row, secrets)
      if (privateKey === undefined) continue
      const key = { domain: row.domain, selector: row.selector, privateKey }
      const others = keys.get(row.domain_id)
      if (others) others.push(key)
      else keys.set(row.domain_id, [key])
    }
    return keys
  }
}

/** undefined, not an error: a key that cannot be unsealed must not stop other domains' mail. */
function tryOpenPrivateKey(row: DkimKeyRow, secrets: Secrets): string | undefined {
  try {
    return openPrivateKey(row, secrets)
  } catch {
    unopenedTotal.inc()
    return undefined
  }
}

/** The private key, PKCS #8 in PEM. @throws when no configured secret key unseals it */
export function openPrivateKey(row: DkimKeyRow, secrets: Secrets): string {
  if (row.sealed_by === null) return row.private_key
  return secrets.open({ keyId: row.sealed_by, text: row.private_key }, sealContext(row))
}

/** Authenticated with the sealed key, so that one domain's sealed key is useless in another domain's row. */
export function sealContext({ domain_id, selector }: Pick<DkimKeyRow, 'domain_id' | 'selector'>): string {
  return `dkim ${domain_id} ${selector}`
}

/** The row of a key, its private key sealed. */
export function sealDkimKey(
  key: Pick<DkimKeyRow, 'domain_id' | 'selector' | 'created_at' | 'state' | 'state_since'>,
  privateKey: string,
  secrets: Secrets,
): DkimKeyRow {
  const { keyId, text } = secrets.seal(privateKey, sealContext(key))
  return { ...key, private_key: text, sealed_by: keyId }
}

/**
 * The selector of a domain's first key: `mr1-<date>-<end of the domain's id>`. It differs between organizations that
 * register the same domain, and is the same when it is computed again.
 */
export function firstSelector(domainId: Id<'dom'>, createdAt: Instant): string {
  return `mr1-${day(createdAt)}-${domainId.slice(-6)}`
}

/** The selector of a later key: never used before, so that no resolver has cached that it does not exist. */
export function rotationSelector(createdAt: Instant): string {
  return `mr1-${day(createdAt)}-${newSortableToken().slice(-6)}`
}

function day(at: Instant): string {
  return toIso(at).slice(0, 10).replaceAll('-', '')
}

/** A fresh RSA key of 2048 bits (RFC 8301 §3.2), PKCS #8 in PEM; generated off the event loop. */
export async function generatePrivateKey(): Promise<string> {
  const { privateKey } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return privateKey
}
