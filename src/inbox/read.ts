import { instantAt, toIso } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import { fromJson } from '../base/schema.ts'
import { outlineMessage } from '../mail/message.ts'
import type { Verdicts } from '../ports/authenticator/port.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import type { Caller } from '../web/caller.ts'
import { storedMessage } from './content.ts'
import { sanitizeHtml } from './html.ts'
import { ownMessage } from './messages.ts'
import { replyTextOf } from './reply-text.ts'
import { type inboundMessage, sharedOf } from './shapes.ts'
import { selectAttachments, updateMessage } from './table.ts'

/**
 * The whole message. It is marked as read when the key may write to the inbox, and shown as it is after.
 * @throws Refusal not_found, brand_restricted
 */
export async function readMessage(
  use: { readonly db: Db; readonly blobs: Blobs },
  caller: Caller,
  id: string,
  remote: 'block' | 'allow',
): Promise<typeof inboundMessage.static> {
  const row = await ownMessage(use.db, caller, id)
  const [attachments, facts] = await Promise.all([
    selectAttachments(use.db, caller.organizationId, row.id),
    outlineMessage(storedMessage(use.blobs, caller.organizationId, row.blob_id)),
  ])
  const marks = caller.scopes.has('inbox:write')
  if (marks && row.is_read === 0) await updateMessage(use.db, caller.organizationId, row.id, { is_read: 1 })
  const { spf, dkim, dmarc } = fromJson(row.verdicts) as Verdicts
  return {
    ...sharedOf(row),
    read: marks || row.is_read === 1,
    cc: [...facts.cc],
    reply_to: [...facts.replyTo],
    date: facts.date && toIso(instantAt(facts.date.getTime() * 1000)),
    text: facts.text,
    html: facts.html === null ? null : sanitizeHtml(facts.html, remote),
    reply_text: facts.text === null ? null : replyTextOf(facts.text),
    headers: facts.headers.map(each => ({ ...each })),
    in_reply_to: row.in_reply_to,
    references: [...facts.references],
    envelope: {
      mail_from: row.mail_from,
      rcpt_to: row.rcpt_to,
      remote_ip: row.remote_ip,
      helo: row.helo,
      tls: row.tls,
    },
    auth: { spf: checkOf(spf), dkim: checkOf(dkim), dmarc: checkOf(dmarc) },
    folder_reason: row.folder_reason,
    attachments: attachments.map(({ position: _, sha256, size, ...rest }) => ({
      ...rest,
      size: Number(size),
      sha256: sha256.toString('hex'),
    })),
  }
}

function checkOf({ result, domain, aligned, detail }: Verdicts['spf']) {
  return { result, domain, aligned, detail }
}
