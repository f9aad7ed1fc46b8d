import type { ProviderReply, SubmissionOutcome, SubmissionPhase } from '../port.ts'
import { noReply } from '../smarthost/replies.ts'

/** SES takes the mail of one domain only once it has verified it. */
const domainUnknown = /\bnot verified\b/i

/** About this one message. */
const ofMessage = new Set(['BadRequestException', 'InvalidParameterValue', 'MessageRejected', 'ValidationException'])

/** The connection was not made, so that nothing was handed over. */
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'])

/** What the client threw, as far as it can be told. */
interface SesError {
  readonly name: string
  readonly text: string
  readonly code: string
  /** Of the HTTP response; null: there was none. */
  readonly status: number | null
}

/**
 * What a submission came to that SES did not take. What is not known to be the message's fault holds the route back, of the
 * one domain or of all: no mail is lost to an account that is suspended, paused, over its quota or without credentials.
 * HTTP has no reply codes; the one that is given is of SES's own SMTP interface, and tells that the sender was met.
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html#API_SendEmail_Errors
 */
export function outcomeOfError(error: unknown): SubmissionOutcome {
  const thrown = readThrown(error)
  const { name, text, status } = thrown
  if (status === null) return unanswered(thrown)
  if (name === 'MailFromDomainNotVerifiedException' || (name === 'MessageRejected' && domainUnknown.test(text)))
    return { kind: 'route-trouble', reply: { ...said('mail', thrown), code: 554 } }
  if (status === 401 || status === 403) return { kind: 'route-trouble', reply: said('auth', thrown) }
  if (status === 413 || (status === 400 && ofMessage.has(name)))
    return { kind: 'failed', reply: said('final-dot', thrown) }
  // A response that cannot be read, or one that tells of trouble within, says not how far the message came.
  if (status < 400 || (status >= 500 && status !== 503))
    return { kind: 'deferred', reply: said('final-dot', thrown), ambiguous: true }
  return { kind: 'route-trouble', reply: said('mail', thrown) }
}

/** In a few words, for who asks whether SES can be reached. */
export function describeError(error: unknown): string {
  return lineOf(readThrown(error))
}

function unanswered(thrown: SesError): SubmissionOutcome {
  if (thrown.name === 'CredentialsProviderError') return { kind: 'route-trouble', reply: said('auth', thrown) }
  if (unconnected.has(thrown.code)) return { kind: 'route-trouble', reply: said('connect', thrown) }
  return { kind: 'deferred', reply: said('final-dot', thrown), ambiguous: true }
}

function said(phase: SubmissionPhase, thrown: SesError): ProviderReply {
  return noReply(phase, lineOf(thrown))
}

function lineOf({ name, text, status }: SesError): string {
  return `${name}: ${text}${status === null ? '' : ` (HTTP ${status})`}`
}

function readThrown(error: unknown): SesError {
  if (!(error instanceof Error)) return { name: 'Error', text: String(error), code: '', status: null }
  const { code, $metadata } = error as { code?: unknown; $metadata?: { httpStatusCode?: unknown } }
  const status = $metadata?.httpStatusCode
  // The client appends advice for who debugs it.
  const [text = ''] = error.message.split('\n')
  return {
    name: error.name,
    text,
    code: typeof code === 'string' ? code : '',
    status: typeof status === 'number' ? status : null,
  }
}
