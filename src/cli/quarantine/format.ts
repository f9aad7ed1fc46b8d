import { toIso } from '../../base/clock.ts'
import type { QuarantinedMessage } from '../../inbox/quarantine/quarantine.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'

/** A message in quarantine as `--json` prints it. */
export function toJsonQuarantined(message: QuarantinedMessage) {
  const { sha256, attachments, received_at, rescan_at, blob_id: _, size, ...rest } = message
  return {
    ...rest,
    size: Number(size),
    received_at: toIso(received_at),
    rescan_at: rescan_at && toIso(rescan_at),
    sha256: sha256?.toString('hex') ?? null,
    attachments: attachments.map(({ message_id: _, ...attachment }) => ({
      ...attachment,
      size: Number(attachment.size),
      sha256: attachment.sha256.toString('hex'),
    })),
  }
}

/** The same for a person. */
export function describeQuarantined(message: QuarantinedMessage): string {
  const { id, received_at, scan, scan_signature, sha256, size, attachments } = message
  const [to, from, envelopeFrom, subject] = [
    message.rcpt_to,
    message.from_address,
    message.mail_from,
    message.subject,
  ].map(sanitizeForTerminal)
  return [
    `${id}  ${toIso(received_at)}  ${describeVerdict(scan, scan_signature)}`,
    `  to ${to} from ${from} (envelope <${envelopeFrom}>): ${subject}`,
    `  sha256 ${sha256?.toString('hex') ?? '(content deleted)'}  the message, ${size} bytes`,
    ...attachments.map(
      ({ sha256, filename, size, scan, scan_signature }) =>
        `  sha256 ${sha256.toString('hex')}  ${sanitizeForTerminal(filename)}, ${size} bytes, ${describeVerdict(scan, scan_signature)}`,
    ),
  ].join('\n')
}

function describeVerdict(verdict: string, signature: string | null): string {
  return signature === null ? verdict : `${verdict} (${sanitizeForTerminal(signature)})`
}
