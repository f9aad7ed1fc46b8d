import { toIso } from '../../base/clock.ts'
import type { QuarantinedMessage } from '../../inbox/quarantine/quarantine.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'

/** A message in quarantine for a person. */
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
