import type { Readable } from 'node:stream'
import type { Id } from '../../base/ids.ts'
import { type RemovedAttachment, withoutAttachments } from '../../mail/without-attachments.ts'
import type { RetentionTargetDeps } from './target.ts'

/** A stored message whose attachments are to be removed. */
interface MessageToStrip {
  readonly id: string
  readonly organizationId: Id<'org'>
  readonly content: Readable
  readonly attachments: readonly RemovedAttachment[]
}

/**
 * Stores a copy of the message without its attachments; gives its blob. Undefined: the message cannot be parsed, and stays as it
 * is, since to delete all of it would be more than the policy asks for.
 */
export async function storeWithoutAttachments(
  { blobs, clock, log }: RetentionTargetDeps,
  { id, organizationId, content, attachments }: MessageToStrip,
): Promise<Id<'blb'> | undefined> {
  const bytes = await withoutAttachments(content, attachments, clock.now().slice(0, 10))
  if (!bytes) {
    log.warn({ item_id: id }, 'retention kept a message with its attachments: it could not be parsed')
    return undefined
  }
  const stored = await blobs.store(organizationId, { kind: 'memory', bytes, size: bytes.length })
  return stored.id
}
