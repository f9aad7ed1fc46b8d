import { toIso } from '../../base/clock.ts'
import type { Quarantined } from '../../inbox/quarantine/quarantine.ts'
import { plain } from '../text.ts'

/** A message in quarantine as `--json` gives it. */
export function shape(row: Quarantined) {
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
export function line(row: Quarantined): string {
  const { id, received_at, mail_from, rcpt_to, from_address, subject, scan, scan_signature, sha256, attachments } = row
  const said = (what: string, signature: string | null) => (signature === null ? what : `${what} (${plain(signature)})`)
  return [
    `${id}  ${toIso(received_at)}  ${said(scan, scan_signature)}`,
    `  to ${plain(rcpt_to)} from ${plain(from_address)} (envelope <${plain(mail_from)}>): ${plain(subject)}`,
    `  sha256 ${sha256?.toString('hex') ?? '(its bytes are gone)'}  the message, ${row.size} bytes`,
    ...attachments.map(
      each =>
        `  sha256 ${each.sha256.toString('hex')}  ${plain(each.filename)}, ${each.size} bytes, ${said(each.scan, each.scan_signature)}`,
    ),
  ].join('\n')
}
