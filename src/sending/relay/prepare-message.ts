import { type Clock, type Instant, millisecondsOf } from '../../base/clock.ts'
import { timed } from '../../base/observability/metrics.ts'
import type { SigningKey } from '../../domains/dkim/keys.ts'
import { formatDate } from '../../mail/date.ts'
import { hasField } from '../../mail/header.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { Provider } from '../../ports/provider/port.ts'
import type { ClaimFacts } from './claim-facts.ts'
import { dkimSignatures } from './dkim-signature.ts'
import type { ClaimedRecipient } from './outbox.ts'
import { NoSigningKeyError } from './outcome.ts'

/**
 * The stored message with its Date. One that its client did not give is when the email was accepted or scheduled for: the
 * same at each attempt.
 */
export async function prepareMessage(
  { organizationId, blobId, scheduledAt, createdAt }: ClaimedRecipient,
  blobs: BlobStore,
): Promise<Buffer> {
  const stored = await timed('out', 'read', () => blobs.readWhole(organizationId, blobId))
  return hasField(stored, 'date') ? stored : Buffer.concat([dateField(scheduledAt ?? createdAt), stored])
}

/** Puts one DKIM signature a key in front of the message. */
export async function signMessage(
  message: Buffer,
  keys: readonly SigningKey[],
  { clock, provider }: { readonly clock: Clock; readonly provider: Provider },
): Promise<Buffer> {
  const nowSeconds = Math.floor(millisecondsOf(clock.now()) / 1000)
  const signatures = await timed('out', 'sign', () =>
    dkimSignatures(message, keys, nowSeconds, provider.traits.unsignedHeaders),
  )
  return Buffer.concat([signatures, message])
}

/** @throws NoSigningKeyError */
export function requireSigningKeys(
  { domainId, fromAddress }: ClaimedRecipient,
  facts: ClaimFacts,
): readonly SigningKey[] {
  const keys = facts.signingKeys.get(domainId)
  if (!keys || keys.length === 0) throw new NoSigningKeyError(`The domain of ${fromAddress} has no signing key.`)
  return keys
}

/** RFC 5322 §3.6.1. */
function dateField(at: Instant): Buffer {
  return Buffer.from(`Date: ${formatDate(millisecondsOf(at))}\r\n`)
}
