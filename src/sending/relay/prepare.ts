import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { timed } from '../../base/observability/metrics.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { ProviderTraits } from '../../ports/provider/port.ts'
import { type DkimKey, dkimSignatures } from './dkim-signature.ts'
import type { ClaimedRecipient } from './outbox.ts'

/** The keys of these domains; see domains/dkim-keys.ts. */
export type FindSigningKeys = (
  db: Db,
  domainIds: readonly Id<'dom'>[],
) => Promise<ReadonlyMap<Id<'dom'>, readonly DkimKey[]>>

export interface PrepareDeps {
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly traits: ProviderTraits
}

/** The domain has no key: what it sends would arrive unsigned. */
export class NoSigningKeyError extends Error {
  override readonly name = 'NoSigningKeyError'
}

/**
 * An email as it goes out: read, dated, signed. The date is when it was accepted, or when it was to be sent: the same at
 * each attempt.
 * @throws NoSigningKeyError
 */
export async function prepare(claimed: ClaimedRecipient, keys: readonly DkimKey[], deps: PrepareDeps): Promise<Buffer> {
  if (keys.length === 0) throw new NoSigningKeyError(`The domain of ${claimed.fromAddress} has no signing key.`)
  const stored = await timed('out', 'read', () => deps.blobs.readWhole(claimed.organizationId, claimed.blobId))
  const message = Buffer.concat([dateField(millisecondsOf(claimed.scheduledAt ?? claimed.createdAt)), stored])
  const nowSeconds = Math.floor(millisecondsOf(deps.clock.now()) / 1000)
  const signatures = await timed('out', 'sign', () =>
    dkimSignatures(message, keys, nowSeconds, deps.traits.unsignedHeaders),
  )
  return Buffer.concat([signatures, message])
}

/** RFC 5322 §3.6.1. */
function dateField(ms: number): Buffer {
  return Buffer.from(`Date: ${new Date(ms).toUTCString().replace('GMT', '+0000')}\r\n`)
}
