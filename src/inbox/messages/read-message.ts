import type { Caller } from '../../api/caller.ts'
import { instantAt, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isOwnAuthenticationResults } from '../../mail/authentication-results.ts'
import type { Verdicts } from '../../ports/authenticator/port.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { requireMessage, verdictsOf } from './messages.ts'
import { type inboundMessageSchema, toJsonMessageFields } from './schema.ts'
import { describeReason, readSpam } from './spam.ts'
import { readStoredSummary } from './stored-message.ts'
import { selectAttachments, updateMessage } from './table.ts'

interface ReadMessageDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly texts: TextWorker
  /** Our name: Authentication-Results in the message that claim to be ours are not shown. */
  readonly hostname: string
}

/**
 * The whole message. It is marked as read if the caller may write to the inbox; the result shows it so.
 * @throws Refusal not_found, brand_restricted
 */
export async function readMessage(
  deps: ReadMessageDeps,
  caller: Caller,
  id: string,
  remote: 'block' | 'allow',
): Promise<typeof inboundMessageSchema.static> {
  const row = await requireMessage(deps.db, caller, id)
  const [attachments, summary] = await Promise.all([
    selectAttachments(deps.db, caller.organizationId, row.id),
    readStoredSummary(deps, row),
  ])
  const [html, replyText] = await Promise.all([
    summary.html === null ? null : deps.texts.run('sanitizeHtml', summary.html, remote),
    summary.text === null ? null : deps.texts.run('replyTextOf', summary.text),
  ])
  const mayWrite = caller.scopes.has('inbox:write')
  if (mayWrite && row.is_read === 0) await updateMessage(deps.db, caller.organizationId, row.id, { is_read: 1 })
  const { spf, dkim, dmarc } = verdictsOf(row)
  const spam = readSpam(row)
  return {
    ...toJsonMessageFields(row),
    read: mayWrite || row.is_read === 1,
    cc: [...summary.cc],
    reply_to: [...summary.replyTo],
    date: summary.date && isoDateOrNull(summary.date),
    text: summary.text,
    html,
    reply_text: replyText,
    headers: summary.headers
      .filter(header => !isOwnAuthenticationResults(header, deps.hostname))
      .map(header => ({ ...header })),
    in_reply_to: row.in_reply_to,
    references: [...summary.references],
    envelope: {
      mail_from: row.mail_from,
      rcpt_to: row.rcpt_to,
      remote_ip: row.remote_ip,
      helo: row.helo,
      tls: row.tls,
    },
    auth: { spf: toJsonCheck(spf), dkim: toJsonCheck(dkim), dmarc: toJsonCheck(dmarc) },
    folder_reason: describeReason(row.folder_reason, spam),
    spam,
    purged_at: row.raw_purged_at && toIso(row.raw_purged_at),
    attachments_purged_at: row.attachments_purged_at && toIso(row.attachments_purged_at),
    attachments: attachments.map(({ position: _, sha256, size, ...rest }) => ({
      ...rest,
      size: Number(size),
      sha256: sha256.toString('hex'),
    })),
  }
}

/** Null for a year beyond four digits, which ISO 8601 cannot express. */
function isoDateOrNull(date: Date): string | null {
  const year = date.getUTCFullYear()
  return year >= 0 && year <= 9999 ? toIso(instantAt(date.getTime() * 1000)) : null
}

function toJsonCheck({ result, domain, aligned, detail }: Verdicts['spf']) {
  return { result, domain, aligned, detail }
}
