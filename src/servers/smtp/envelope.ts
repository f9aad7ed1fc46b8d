import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'
import type { SmtpRecipient } from './deps.ts'
import { type ParsedPath, type PathResult, parsePath } from './path.ts'

/** From MAIL to the end of DATA. */
export interface MailTransaction<Recipient extends SmtpRecipient = SmtpRecipient> {
  readonly id: string
  readonly mailFrom: string
  readonly smtputf8: boolean
  /** By lower-case address, so that no address is there twice. */
  readonly recipients: Map<string, Recipient>
}

/** Whether the refusal counts as a guessed address. */
export function isUnknownRecipient(code: SmtpRefusalCode): boolean {
  return code === 'mailbox_unknown' || code === 'relay_denied'
}

/** Parses RCPT, and refuses what can be refused without looking the recipient up. */
export function parseRecipient(
  line: string,
  transaction: MailTransaction | undefined,
  maxRecipients: number,
): PathResult {
  if (!transaction) return { kind: 'refused', code: 'out_of_order' }
  const path = parsePath('RCPT TO', line, transaction.smtputf8)
  if (path.kind === 'refused') return path
  if (path.parameters.size > 0) return { kind: 'refused', code: 'parameter_unknown' }
  return transaction.recipients.size < maxRecipients ? path : { kind: 'refused', code: 'too_many_recipients' }
}

/** What a listener supports in MAIL besides SIZE (RFC 1870) and BODY (RFC 6152). */
export interface MailExtensions {
  readonly maxBytes: number
  /** RFC 6531. */
  readonly smtputf8: boolean
  /** The parameter AUTH (RFC 4954 §5), which is not looked at: the client itself is who sends. */
  readonly auth: boolean
}

/** The refusal of the parameters of MAIL, if any. */
export function mailParameterError(
  { parameters }: ParsedPath,
  { maxBytes, smtputf8, auth }: MailExtensions,
): SmtpRefusalCode | undefined {
  for (const [keyword, value] of parameters) {
    switch (keyword) {
      case 'SIZE':
        if (!/^\d{1,20}$/.test(value)) return 'parameter_malformed'
        if (Number(value) > maxBytes) return 'message_too_large'
        break
      case 'BODY':
        if (!/^(?:7BIT|8BITMIME)$/i.test(value)) return 'parameter_malformed'
        break
      case 'SMTPUTF8':
        if (!smtputf8) return 'parameter_unknown'
        if (value !== '') return 'parameter_malformed'
        break
      case 'AUTH':
        if (!auth) return 'parameter_unknown'
        if (value === '') return 'parameter_malformed'
        break
      default:
        return 'parameter_unknown'
    }
  }
  return undefined
}
