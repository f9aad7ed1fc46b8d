import type { Caller } from '../../api/caller.ts'
import { instantAt, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { claimsName } from '../../mail/authentication-results.ts'
import type { Verdicts } from '../../ports/authenticator/port.ts'
import type { Blobs } from '../../ports/blobs/port.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { ownMessage, verdictsOf } from './messages.ts'
import { type inboundMessage, sharedOf } from './schema.ts'
import { outlineStored } from './stored-message.ts'
import { selectAttachments, updateMessage } from './table.ts'

interface Reading {
  readonly db: Db
  readonly blobs: Blobs
  readonly texts: TextWorker
  /** Our name: results that claim to be ours and are not are not shown. */
  readonly hostname: string
}

/**
 * The whole message. It is marked as read when the key may write to the inbox, and shown as it is after.
 * @throws Refusal not_found, brand_restricted
 */
export async function readMessage(
  use: Reading,
  caller: Caller,
  id: string,
  remote: 'block' | 'allow',
): Promise<typeof inboundMessage.static> {
  const row = await ownMessage(use.db, caller, id)
  const [attachments, facts] = await Promise.all([
    selectAttachments(use.db, caller.organizationId, row.id),
    outlineStored(use, row),
  ])
  const [html, replyText] = await Promise.all([
    facts.html === null ? null : use.texts.run('sanitizeHtml', facts.html, remote),
    facts.text === null ? null : use.texts.run('replyTextOf', facts.text),
  ])
  const marks = caller.scopes.has('inbox:write')
  if (marks && row.is_read === 0) await updateMessage(use.db, caller.organizationId, row.id, { is_read: 1 })
  const { spf, dkim, dmarc } = verdictsOf(row)
  return {
    ...sharedOf(row),
    read: marks || row.is_read === 1,
    cc: [...facts.cc],
    reply_to: [...facts.replyTo],
    date: facts.date && shownDate(facts.date),
    text: facts.text,
    html,
    reply_text: replyText,
    headers: facts.headers.filter(each => !claimsName(each, use.hostname)).map(each => ({ ...each })),
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
    purged_at: row.raw_purged_at && toIso(row.raw_purged_at),
    attachments_purged_at: row.attachments_purged_at && toIso(row.attachments_purged_at),
    attachments: attachments.map(({ position: _, sha256, size, ...rest }) => ({
      ...rest,
      size: Number(size),
      sha256: sha256.toString('hex'),
    })),
  }
}

/** Null for a year that ISO 8601 does not write with four digits. */
function shownDate(date: Date): string | null {
  const year = date.getUTCFullYear()
  return year >= 0 && year <= 9999 ? toIso(instantAt(date.getTime() * 1000)) : null
}

function checkOf({ result, domain, aligned, detail }: Verdicts['spf']) {
  return { result, domain, aligned, detail }
}
