import type { SessionContext, SessionMember } from '../../api/session/session.ts'
import { visitAttachments } from '../../mail/message.ts'
import { readAll } from '../../mail/streams.ts'
import { readStoredMessage } from '../../ports/blobs/read-message.ts'
import { attachmentScan, isHarmless } from '../messages/download.ts'
import { requireMessage } from '../messages/messages.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import { type MessageDetailRow, selectAttachments } from '../messages/table.ts'
import type { InboxDeps } from '../routes.ts'
import { messageResponse } from './message-document.ts'
import { choosePictures, type InlinePicture, withPictures } from './pictures.ts'

type ViewDeps = Pick<InboxDeps, 'db' | 'blobs' | 'texts'>

/**
 * A received message as a document: its HTML, else its text.
 * @param remote `allow`: its pictures may come from other servers, this once
 * @throws Refusal `not_found`, `brand_restricted`
 */
export async function viewMessage(
  deps: ViewDeps,
  member: SessionMember,
  id: string,
  remote: 'block' | 'allow',
  reserveMemory: SessionContext['reserveMemory'],
): Promise<Response> {
  const row = await requireMessage(deps.db, member, id)
  const summary = await readStoredSummary(deps, row)
  const html = summary.html === null ? null : await deps.texts.run('sanitizeHtml', summary.html, remote)
  const { text } = summary
  if (html === null)
    return messageResponse({
      html,
      text,
      allowsRemotePictures: false,
      notices: summary.html === null ? [] : ['The HTML of this message is too large to be shown; this is its text.'],
    })
  const pictures = choosePictures(html, await harmlessPictures(deps, row))
  // Its bytes, and the same in base64.
  reserveMemory(pictures.chosen.reduce((sum, { size }) => sum + 3 * size, 0))
  return messageResponse({
    html: withPictures(html, await readPictures(deps, row, pictures.chosen)),
    text,
    allowsRemotePictures: remote === 'allow',
    notices: picturesLeft(pictures.left),
  })
}

/** A sentence about pictures that are not shown in their place. */
export function picturesLeft(count: number): readonly string[] {
  if (count === 0) return []
  const which = count === 1 ? '1 picture of this message is' : `${count} pictures of this message are`
  return [`${which} not shown in place: too large, too many, or of a kind that is not shown. See the attachments.`]
}

interface StoredPicture extends InlinePicture {
  readonly position: number
}

/** The attachments that are pictures with a content id, as far as their bytes are there and nothing was found in them. */
async function harmlessPictures({ db }: ViewDeps, row: MessageDetailRow): Promise<readonly StoredPicture[]> {
  if (row.raw_purged_at !== null || row.attachments_purged_at !== null) return []
  const attachments = await selectAttachments(db, row.organization_id, row.id)
  return attachments.flatMap(({ content_id, content_type, size, position, scan }) =>
    content_id !== null && isHarmless(attachmentScan(row, scan))
      ? [{ contentId: content_id, contentType: content_type, size: Number(size), position }]
      : [],
  )
}

async function readPictures({ blobs }: ViewDeps, row: MessageDetailRow, chosen: readonly StoredPicture[]) {
  const pictures = new Map<string, { contentType: string; bytes: Buffer }>()
  if (chosen.length === 0) return pictures
  await visitAttachments(readStoredMessage(blobs, row.organization_id, row.blob_id), async (content, position) => {
    const picture = chosen.find(candidate => candidate.position === position)
    if (!picture) return
    pictures.set(picture.contentId, { contentType: picture.contentType, bytes: await readAll(content) })
  })
  return pictures
}
