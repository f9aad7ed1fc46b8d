import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { SendCandidate, StagedMessage } from './candidate.ts'

/** Larger messages are stored before the transaction that accepts them, so that it stays short. In bytes. */
export const maxUnstagedBytes = 128 * 1024

/**
 * Stores a large message ahead of its acceptance; a small one stays in memory until then.
 * @param maxUnstaged how large a message in memory may be, in bytes
 */
export async function stageMessage(
  bytes: Buffer,
  organizationId: Id<'org'>,
  blobs: BlobStore,
  maxUnstaged: number,
): Promise<StagedMessage> {
  if (bytes.length <= maxUnstaged) return { kind: 'new', bytes }
  const { id } = await blobs.store(organizationId, { kind: 'memory', bytes, size: bytes.length })
  return { kind: 'stored', blobId: id }
}

/** Stores the messages that are not stored yet, in the accepting transaction; gives the blob of each, in order. */
export async function storeStagedMessages(
  db: Db,
  blobs: BlobStore,
  candidates: readonly Pick<SendCandidate, 'sender' | 'message'>[],
): Promise<readonly Id<'blb'>[]> {
  const unstored = candidates.flatMap(({ sender: { organizationId }, message }) =>
    message.kind === 'new' ? [{ organizationId, bytes: message.bytes }] : [],
  )
  const stored = unstored.length > 0 ? (await blobs.storeWithin(db, unstored)).values() : [].values()
  return candidates.map(({ message }) => {
    const blobId = message.kind === 'stored' ? message.blobId : stored.next().value?.id
    if (blobId === undefined) throw new Error('a message was not stored')
    return blobId
  })
}
