import { oneLine } from '../../../mail/text.ts'
import { type ProviderReply, type SubmissionOutcome, type SubmissionPhase, withdrawnOutcome } from '../port.ts'

/** The relay's replies during one mail transaction, and how it ended. */
export interface Transcript {
  /** Raw replies in order: to MAIL, to each RCPT, to DATA, to the final dot. Fewer when the transaction ended before that. */
  readonly replies: readonly string[]
  /** Was the whole message, with the final dot, handed to the connection? Then the relay may have accepted it. */
  readonly handedOver: boolean
  /** Why the connection ended; null: it is open. */
  readonly ended: string | null
  /** Why this message cannot be sent on this connection at all (larger than the relay's SIZE); null: it can. */
  readonly unsendable: string | null
  /** Was the message withdrawn before the final dot? Then the connection was closed there, and the relay has not got it. */
  readonly withdrawn: boolean
}

const maxText = 500

/** Parses an SMTP reply of one or several lines. RFC 5321 §4.2, RFC 2034 §4. */
export function readReply(phase: SubmissionPhase, raw: string): ProviderReply {
  const lines = raw
    .split(/\r?\n/)
    .map(line => /^(?:(\d{3})(?:[ -]|$))?(?:([245]\.\d{1,3}\.\d{1,3})(?:\s+|$))?(.*)$/s.exec(line))
  const text = lines.map(line => line?.[3] ?? '').join(' ')
  return {
    phase,
    code: lines[0]?.[1] === undefined ? null : Number(lines[0][1]),
    enhancedCode: lines[0]?.[2] ?? null,
    text: oneLine(text).slice(0, maxText),
  }
}

/**
 * The outcome of each recipient, from the replies alone (RFC 5321 §4.3.2). A reply to RCPT is about its recipient, one after
 * DATA about the message. Anything before RCPT, a 421 anywhere, and a refusal of our account is a route error.
 */
export function outcomesOf(transcript: Transcript, recipients: number): readonly SubmissionOutcome[] {
  const [mail, ...rest] = transcript.replies
  if (transcript.withdrawn) return filled(recipients, withdrawnOutcome(mail === undefined ? 'mail' : 'data'))
  if (transcript.unsendable !== null)
    return filled(recipients, { kind: 'failed', reply: noReply('mail', transcript.unsendable) })
  if (mail === undefined) return filled(recipients, endedAt('mail', transcript))
  const toMail = readReply('mail', mail)
  if (!isPositive(toMail)) return filled(recipients, refusedAtMail(toMail))

  const envelope = rest.slice(0, recipients).map(raw => readReply('rcpt', raw))
  const outcome = envelope.some(isPositive) ? messageOutcome(transcript, rest.slice(recipients)) : undefined
  return Array.from({ length: recipients }, (_, i) => {
    const reply = envelope[i]
    if (reply === undefined) return endedAt('rcpt', transcript)
    if (!isPositive(reply)) return refused(reply)
    return outcome ?? endedAt('rcpt', transcript)
  })
}

/** The outcome of the recipients that were accepted at RCPT. */
function messageOutcome(transcript: Transcript, [data, final]: readonly string[]): SubmissionOutcome {
  if (data === undefined) return endedAt('data', transcript)
  const toData = readReply('data', data)
  if (!isPositive(toData)) return refused(toData)
  if (final === undefined) return endedAt(transcript.handedOver ? 'final-dot' : 'data', transcript)
  const reply = readReply('final-dot', final)
  return isPositive(reply) ? { kind: 'accepted', reply, providerMessageId: queueId(reply) } : refused(reply)
}

function filled(count: number, outcome: SubmissionOutcome): readonly SubmissionOutcome[] {
  return Array.from({ length: count }, () => outcome)
}

function isPositive({ code }: ProviderReply): boolean {
  return code !== null && code >= 200 && code < 400
}

/** Stands for a reply where there was none; `text` says what happened instead. */
export function noReply(phase: SubmissionPhase, text: string): ProviderReply {
  return { phase, code: null, enhancedCode: null, text: oneLine(text).slice(0, maxText) }
}

/** The outcome when the connection ended: before RCPT a route error; later the cause may be this message. */
function endedAt(phase: SubmissionPhase, { ended }: Transcript): SubmissionOutcome {
  const reply = noReply(phase, ended ?? 'The relay gave no reply.')
  return phase === 'mail'
    ? { kind: 'route-error', reply }
    : { kind: 'deferred', reply, ambiguous: phase === 'final-dot' }
}

function refusedAtMail(reply: ProviderReply): SubmissionOutcome {
  return isTooLarge(reply) ? { kind: 'failed', reply } : { kind: 'route-error', reply }
}

/** MAIL announces the size, so this reply is about this message. RFC 1870 §6.1. */
function isTooLarge({ code, enhancedCode }: ProviderReply): boolean {
  return (code === 552 && enhancedCode === null) || (code !== null && code >= 500 && enhancedCode === '5.3.4')
}

function refused(reply: ProviderReply): SubmissionOutcome {
  if (isRouteError(reply)) return { kind: 'route-error', reply }
  const isPermanent = reply.code !== null && reply.code >= 500
  return isPermanent ? { kind: 'failed', reply } : { kind: 'deferred', reply, ambiguous: false }
}

// Shutting down, authentication required or failed, mechanism too weak, address of ours not allowed. RFC 5321, RFC 4954.
const routeCodes = new Set([421, 454, 525, 530, 534, 535, 538])

const relayDenied =
  /^(?:<[^>]*>:? *)*(?:relay(?:ing)? (?:access )?(?:denied|not (?:allowed|permitted))|unable to relay|authentication (?:is )?required|(?:client )?(?:was )?not authenticated)/i

const accountRefused =
  /\baccount\b.{0,40}\b(?:suspended|disabled|deactivated|blocked|locked|not (?:active|activated|verified))|\bsending (?:is |has been )?(?:suspended|paused|disabled)|\b(?:daily|hourly|monthly|sending)\b.{0,30}\b(?:quota|limit)\b.{0,20}\bexceeded|\bmaximum credits exceeded|\baddress is not verified|\bunauthori[sz]ed ip\b|\bunauthenticated senders?\b/i

/** Does the relay refuse us, or our account? When that is not certain, the refusal is about the message. */
function isRouteError({ phase, code, enhancedCode, text }: ProviderReply): boolean {
  if (code !== null && routeCodes.has(code)) return true
  if (code === null || code < 500) return false
  if (relayDenied.test(text)) return true
  // 5.1.x and 5.2.x are about an address and its mailbox (RFC 3463 §3.2, §3.3).
  const afterRcpt = phase === 'data' || phase === 'final-dot'
  return afterRcpt && !/^5\.[12]\./.test(enhancedCode ?? '') && accountRefused.test(text)
}

const queueIdForms = [
  /\bqueued as <?([\w.@=-]+)/i, // Postfix, Haraka
  /\bOK id=([\w-]+)/, // Exim
  /^Ok:? ([0-9a-f]{8,}(?:-[0-9a-f]+)+)$/i, // Amazon SES
]

/** The relay's own id of the message, where its reply has one in a known form. */
function queueId({ text }: ProviderReply): string | null {
  for (const form of queueIdForms) {
    const id = form.exec(text)?.[1]
    if (id) return id
  }
  return null
}
