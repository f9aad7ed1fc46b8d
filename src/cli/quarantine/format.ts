import { toIso } from '../../base/clock.ts'
import type { QuarantinedMessage } from '../../inbox/quarantine/quarantine.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'

/** A message in quarantine as `--json` gives it. */
export function toJsonQuarantined(row: QuarantinedMessage) {
  const { sha256, attachments, received_at, rescan_at, blob_id: _, size, ...rest } = row
  return {
    ...rest,
    size: Number(size),
    received_at: toIso(received_at),
    rescan_at: rescan_at && toIso(rescan_at),
    sha256: sha256?.toString('hex') ?? null,
    attachments: attachments.map(({ message_id: _, ...each }) => ({
      ...each,
      size: Number(each.size),
      sha256: each.sha256.toString('hex'),
    })),
  }
}

/** The same for a person. */
export function describeQuarantined(row: QuarantinedMessage): string {
  const { id, received_at, mail_from, rcpt_to, from_address, subject, scan, scan_signature, sha256, attachments } = row
  const said = (what: string, signature: string | null) =>
    signature === null ? what : `${what} (${sanitizeForTerminal(signature)})`
  return [
    `${id}  ${toIso(received_at)}  ${said(scan, scan_signature)}`,
    `  to ${sanitizeForTerminal(rcpt_to)} from ${sanitizeForTerminal(from_address)} (envelope <${sanitizeForTerminal(mail_from)}>): ${sanitizeForTerminal(subject)}`,
    `  sha256 ${sha256?.toString('hex') ?? '(its bytes are gone)'}  the message, ${row.size} bytes`,
    ...attachments.map(
      attachment =>
        `  sha256 ${attachment.sha256.toString('hex')}  ${sanitizeForTerminal(attachment.filename)}, ${attachment.size} bytes, ${said(attachment.scan, attachment.scan_signature)}`,
    ),
  ].join('\n')
}
