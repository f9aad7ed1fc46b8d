import type { ProviderReply, SubmissionOutcome, SubmissionPhase } from '../port.ts'
import { noReply } from '../smarthost/replies.ts'

/** SES accepts mail of a domain only once it has verified that domain. */
const domainNotVerified = /\bnot verified\b/i

/** Errors about this message alone. */
const messageErrors = new Set([
  'BadRequestException',
  'InvalidParameterValue',
  'MessageRejected',
  'ValidationException',
])

/** The connection could not be made, so nothing was submitted. */
const connectErrors = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'])

/** What the SDK threw. */
interface SesError {
  readonly name: string
  readonly text: string
  readonly code: string
  /** HTTP status; null: there was no response. */
  readonly status: number | null
}

/**
 * The outcome of a submission that failed. An error that is not known to be about the message is a route error, of one
 * sender domain or of all: no mail may be lost to an account that is suspended, paused, over its quota or without credentials.
 * HTTP has no SMTP reply codes. For an unverified sender domain the code is the one that SES's SMTP interface gives (554), by
 * which the relay knows that only this domain is affected.
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html#API_SendEmail_Errors
 */
export function outcomeOfError(error: unknown): SubmissionOutcome {
  const sesError = parseError(error)
  const { name, text, status } = sesError
  if (status === null) return outcomeWithoutResponse(sesError)
  if (name === 'MailFromDomainNotVerifiedException' || (name === 'MessageRejected' && domainNotVerified.test(text)))
    return { kind: 'route-error', reply: { ...replyOf('mail', sesError), code: 554 } }
  if (status === 401 || status === 403) return { kind: 'route-error', reply: replyOf('auth', sesError) }
  if (status === 413 || (status === 400 && messageErrors.has(name)))
    return { kind: 'failed', reply: replyOf('final-dot', sesError) }
  // An unreadable response or an internal error does not say whether SES accepted the message.
  if (status < 400 || (status >= 500 && status !== 503))
    return { kind: 'deferred', reply: replyOf('final-dot', sesError), ambiguous: true }
  return { kind: 'route-error', reply: replyOf('mail', sesError) }
}

/** The error in a few words, for an operator. */
export function describeError(error: unknown): string {
  return lineOf(parseError(error))
}

function outcomeWithoutResponse(sesError: SesError): SubmissionOutcome {
  if (sesError.name === 'CredentialsProviderError') return { kind: 'route-error', reply: replyOf('auth', sesError) }
  if (connectErrors.has(sesError.code)) return { kind: 'route-error', reply: replyOf('connect', sesError) }
  return { kind: 'deferred', reply: replyOf('final-dot', sesError), ambiguous: true }
}

function replyOf(phase: SubmissionPhase, sesError: SesError): ProviderReply {
  return noReply(phase, lineOf(sesError))
}

function lineOf({ name, text, status }: SesError): string {
  return `${name}: ${text}${status === null ? '' : ` (HTTP ${status})`}`
}

function parseError(error: unknown): SesError {
  if (!(error instanceof Error)) return { name: 'Error', text: String(error), code: '', status: null }
  const { code, $metadata } = error as { code?: unknown; $metadata?: { httpStatusCode?: unknown } }
  const status = $metadata?.httpStatusCode
  // The SDK appends debugging advice on further lines.
  const [text = ''] = error.message.split('\n')
  return {
    name: error.name,
    text,
    code: typeof code === 'string' ? code : '',
    status: typeof status === 'number' ? status : null,
  }
}
