import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { timed } from '../../base/observability/metrics.ts'
import type { Blobs } from '../../ports/blobs/port.ts'
import type { ProviderTraits } from '../../ports/provider/port.ts'
import type { Claimed } from './outbox.ts'
import { type DkimKey, dkimSignatures } from './sign.ts'

/** The keys of these domains; see domains/dkim-keys.ts. */
export type FindSigningKeys = (
  db: Db,
  domainIds: readonly Id<'dom'>[],
) => Promise<ReadonlyMap<Id<'dom'>, readonly DkimKey[]>>

export interface Preparing {
  readonly blobs: Blobs
  readonly clock: Clock
  readonly traits: ProviderTraits
}

/** The domain has no key: what it sends would arrive unsigned. */
export class NoSigningKey extends Error {
  override readonly name = 'NoSigningKey'
}

/**
 * An email as it goes out: read, dated, signed. The date is when it was accepted, or when it was to be sent: the same at
 * each attempt.
 * @throws NoSigningKey
 */
export async function prepare(claimed: Claimed, keys: readonly DkimKey[], use: Preparing): Promise<Buffer> {
  if (keys.length === 0) throw new NoSigningKey(`The domain of ${claimed.fromAddress} has no signing key.`)
  const stored = await timed('out', 'read', () => use.blobs.readWhole(claimed.organizationId, claimed.blobId))
  const message = Buffer.concat([dateField(millisecondsOf(claimed.scheduledAt ?? claimed.createdAt)), stored])
  const nowSeconds = Math.floor(millisecondsOf(use.clock.now()) / 1000)
  const signatures = await timed('out', 'sign', () =>
    dkimSignatures(message, keys, nowSeconds, use.traits.unsignedHeaders),
  )
  return Buffer.concat([signatures, message])
}

/** RFC 5322 §3.6.1. */
function dateField(ms: number): Buffer {
  return Buffer.from(`Date: ${new Date(ms).toUTCString().replace('GMT', '+0000')}\r\n`)
}
