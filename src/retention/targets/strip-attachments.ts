import type { Readable } from 'node:stream'
import type { Id } from '../../base/ids.ts'
import { type RemovedAttachment, withoutAttachments } from '../../mail/without-attachments.ts'
import type { RetentionTargetDeps } from './target.ts'

/** A stored message that is to lose its attachments. */
interface MessageToStrip {
  readonly id: string
  readonly organizationId: Id<'org'>
  readonly content: Readable
  readonly attachments: readonly RemovedAttachment[]
}

/**
 * Stores the message without its attachments. Undefined where it cannot be taken apart: then it stays as it is, since to
 * remove all of it is not what was asked for.
 */
export async function storeWithoutAttachments(
  { blobs, clock, log }: RetentionTargetDeps,
  { id, organizationId, content, attachments }: MessageToStrip,
): Promise<Id<'blb'> | undefined> {
  const bytes = await withoutAttachments(content, attachments, clock.now().slice(0, 10))
  if (!bytes) {
    log.warn({ item_id: id }, 'kept a message with its attachments, as it cannot be taken apart')
    return undefined
  }
  const stored = await blobs.store(organizationId, { kind: 'memory', bytes, size: bytes.length })
  return stored.id
}
