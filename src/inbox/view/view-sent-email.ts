import type { SessionContext, SessionMember } from '../../api/session/session.ts'
import type { SendDeps } from '../../sending/accept/open-sending.ts'
import { downloadSentAttachment } from '../../sending/emails/download-attachment.ts'
import { readEmailContent } from '../../sending/emails/emails.ts'
import type { InboxDeps } from '../routes.ts'
import { messageResponse } from './message-document.ts'
import { choosePictures, withPictures } from './pictures.ts'
import { picturesLeft } from './view-message.ts'

/**
 * A sent email as its recipients got it, as a document: its HTML, else its text.
 * @throws Refusal `not_found`, `brand_restricted`
 */
export async function viewSentEmail(
  deps: { readonly sending: SendDeps; readonly texts: InboxDeps['texts'] },
  member: SessionMember,
  id: string,
  remote: 'block' | 'allow',
  reserveMemory: SessionContext['reserveMemory'],
): Promise<Response> {
  const content = await readEmailContent(deps.sending, member, id)
  if (!content.available)
    return messageResponse({
      html: null,
      text: null,
      allowsRemotePictures: false,
      notices: ['The content of this email was deleted, at the end of its retention time.'],
    })
  const html = content.html === null ? null : await deps.texts.run('sanitizeHtml', content.html, remote)
  if (html === null) return messageResponse({ html, text: content.text, allowsRemotePictures: false, notices: [] })
  const attached = content.attachments_purged_at === null ? content.attachments : []
  const { chosen, left } = choosePictures(
    html,
    attached.flatMap(({ id, content_id, content_type, size }) =>
      content_id === null ? [] : [{ id, contentId: content_id, contentType: content_type, size }],
    ),
  )
  reserveMemory(chosen.reduce((sum, { size }) => sum + 3 * size, 0))
  const pictures = new Map<string, { contentType: string; bytes: Buffer }>()
  for (const picture of chosen) {
    const { bytes } = await downloadSentAttachment(deps.sending, member, id, picture.id)
    pictures.set(picture.contentId, {
      contentType: picture.contentType,
      bytes: Buffer.from(await new Response(bytes).arrayBuffer()),
    })
  }
  return messageResponse({
    html: withPictures(html, pictures),
    text: content.text,
    allowsRemotePictures: remote === 'allow',
    notices: picturesLeft(left),
  })
}
