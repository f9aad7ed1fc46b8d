import { Refusal, type RefusalCode } from '../../../base/refusal.ts'
import { refuseMail, type SmtpRefusal, type SmtpRefusalCode, toSmtpRefusal } from '../../../receiving/smtp-refusal.ts'

/** The replies for the refusals of the API that a submitted message can get. The text is the API's. */
const replies: Partial<Readonly<Record<RefusalCode, SmtpRefusalCode>>> = {
  domain_not_verified: 'submission_denied',
  from_not_allowed: 'submission_denied',
  insufficient_scope: 'submission_denied',
  brand_restricted: 'submission_denied',
  recipient_suppressed: 'recipient_suppressed',
  quota_exceeded: 'quota_exceeded',
  rate_limited: 'rate_limited',
  too_many_recipients: 'too_many_recipients',
  too_many_attachments: 'message_malformed',
  attachments_too_large: 'message_too_large',
  idempotency_key_invalid: 'message_malformed',
  idempotency_key_reused: 'message_refused',
  idempotency_in_progress: 'repeated_key_in_progress',
}

/** The parameters that say who sends; what is wrong with them is not a matter of form. */
const originators: ReadonlySet<string | undefined> = new Set(['from', 'sender', 'resent-from', 'resent-sender'])

/** The SMTP refusal for what kept a message from being sent; what is no refusal, and what may pass, is 4yz. */
export function toSubmissionRefusal(error: unknown): SmtpRefusal {
  if (!(error instanceof Refusal)) return toSmtpRefusal(error)
  const { code, retryable, message, detail } = error
  return refuseMail(replyCode(code, retryable, detail.param), { detail: message, cause: detail.cause ?? code })
}

function replyCode(code: RefusalCode, isRetryable: boolean, param: string | undefined): SmtpRefusalCode {
  if (code === 'invalid_request') return originators.has(param) ? 'submission_denied' : 'message_malformed'
  return replies[code] ?? (isRetryable ? 'our_trouble' : 'message_refused')
}

/** Whether the refusal is of the key itself: the client may no longer send, whatever it sends. */
export function isOfKey(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.status === 401 || error.code === 'insufficient_scope')
}
