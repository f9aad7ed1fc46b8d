import { createHash } from 'node:crypto'
import type { Id } from '../base/ids.ts'
import type { BlobStore, StoredBlob } from '../ports/blobs/port.ts'
import type { IncomingMessage } from './incoming-message.ts'

/** A message's bytes: stored, or so small that they are stored in the transaction that files the message. */
export type MessageBytes =
  | { readonly kind: 'stored'; readonly blobs: ReadonlyMap<Id<'org'>, StoredBlob> }
  | { readonly kind: 'small'; readonly bytes: Buffer }

const maxSmallBytes = 128 * 1024

/**
 * Stores large bytes, once for each organization that has a recipient, in transactions of their own.
 * @param sha256 of the bytes; null: it is not known yet
 */
export async function store(
  { content, recipients }: IncomingMessage,
  sha256: Buffer | null,
  blobs: BlobStore,
): Promise<MessageBytes> {
  if (content.kind === 'memory' && content.size <= maxSmallBytes) return { kind: 'small', bytes: content.bytes }
  const organizations = [...new Set(recipients.map(recipient => recipient.organizationId))]
  const stored = await Promise.all(organizations.map(async id => [id, await blobs.store(id, content, sha256)] as const))
  return { kind: 'stored', blobs: new Map(stored) }
}

/** SHA-256 of the bytes. */
export function digestOf(bytes: MessageBytes): Buffer {
  if (bytes.kind === 'small') return createHash('sha256').update(bytes.bytes).digest()
  const [blob] = bytes.blobs.values()
  if (!blob) throw new Error('cannot file a message without recipients')
  return blob.sha256
}
