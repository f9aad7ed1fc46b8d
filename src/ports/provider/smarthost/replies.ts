import { oneLine } from '../../../mail/text.ts'
import type { ProviderReply, SubmissionOutcome, SubmissionPhase } from '../port.ts'

/** What the relay said during one mail transaction, and how that ended. */
export interface Transcript {
  /** Raw replies in order: to MAIL, to each RCPT, to DATA, to the final dot. Fewer when it ended before. */
  readonly replies: readonly string[]
  /** Had we handed all of the message, up to the final dot, to the connection? Then it may have arrived. */
  readonly handedOver: boolean
  /** Why the connection ended; null: it lives. */
  readonly ended: string | null
  /** Why this message cannot be said on this connection at all (larger than the relay's SIZE); null: it can. */
  readonly unsendable: string | null
}

const maxText = 500

/** A raw SMTP reply, of one or several lines, in its parts. RFC 5321 §4.2, RFC 2034 §4. */
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
 * What became of each recipient, told from the replies alone (RFC 5321 §4.3.2). A reply to RCPT concerns its recipient,
 * one after DATA the message; everything before, a 421 anywhere, and what only the account can mean, is the route's.
 */
export function outcomesOf(transcript: Transcript, recipients: number): readonly SubmissionOutcome[] {
  const [mail, ...rest] = transcript.replies
  if (transcript.unsendable !== null)
    return filled(recipients, { kind: 'failed', reply: noReply('mail', transcript.unsendable) })
  if (mail === undefined) return filled(recipients, endedAt('mail', transcript))
  const toMail = readReply('mail', mail)
  if (!isPositive(toMail)) return filled(recipients, refusedAtMail(toMail))

  const envelope = rest.slice(0, recipients).map(raw => readReply('rcpt', raw))
  const whole = envelope.some(isPositive) ? wholeMessage(transcript, rest.slice(recipients)) : undefined
  return Array.from({ length: recipients }, (_, i) => {
    const reply = envelope[i]
    if (reply === undefined) return endedAt('rcpt', transcript)
    if (!isPositive(reply)) return refused(reply)
    return whole ?? endedAt('rcpt', transcript)
  })
}

/** What became of the recipients that were taken. */
function wholeMessage(transcript: Transcript, [data, final]: readonly string[]): SubmissionOutcome {
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

/** What happened where there was no reply. */
export function noReply(phase: SubmissionPhase, text: string): ProviderReply {
  return { phase, code: null, enhancedCode: null, text: oneLine(text).slice(0, maxText) }
}

/** Before RCPT the relay is at fault; from there on it may be this message that it cannot take. */
function endedAt(phase: SubmissionPhase, { ended }: Transcript): SubmissionOutcome {
  const reply = noReply(phase, ended ?? 'The relay gave no reply.')
  return phase === 'mail'
    ? { kind: 'route-trouble', reply }
    : { kind: 'deferred', reply, ambiguous: phase === 'final-dot' }
}

function refusedAtMail(reply: ProviderReply): SubmissionOutcome {
  return isTooLarge(reply) ? { kind: 'failed', reply } : { kind: 'route-trouble', reply }
}

/** We announce the size, so this answer to MAIL is about this message. RFC 1870 §6.1. */
function isTooLarge({ code, enhancedCode }: ProviderReply): boolean {
  return (code === 552 && enhancedCode === null) || (code !== null && code >= 500 && enhancedCode === '5.3.4')
}

function refused(reply: ProviderReply): SubmissionOutcome {
  if (concernsRoute(reply)) return { kind: 'route-trouble', reply }
  const isPermanent = reply.code !== null && reply.code >= 500
  return isPermanent ? { kind: 'failed', reply } : { kind: 'deferred', reply, ambiguous: false }
}

// Shutting down, authentication required or failed, mechanism too weak, address of ours not allowed. RFC 5321, RFC 4954.
const routeCodes = new Set([421, 454, 525, 530, 534, 535, 538])

const relayDenied =
  /^(?:<[^>]*>:? *)*(?:relay(?:ing)? (?:access )?(?:denied|not (?:allowed|permitted))|unable to relay|authentication (?:is )?required|(?:client )?(?:was )?not authenticated)/i

const accountRefused =
  /\baccount\b.{0,40}\b(?:suspended|disabled|deactivated|blocked|locked|not (?:active|activated|verified))|\bsending (?:is |has been )?(?:suspended|paused|disabled)|\b(?:daily|hourly|monthly|sending)\b.{0,30}\b(?:quota|limit)\b.{0,20}\bexceeded|\bmaximum credits exceeded|\baddress is not verified|\bunauthori[sz]ed ip\b|\bunauthenticated senders?\b/i

/** Is it us, or our account, that the relay refuses? Careful: what is not sure to mean that is the message's. */
function concernsRoute({ phase, code, enhancedCode, text }: ProviderReply): boolean {
  if (code !== null && routeCodes.has(code)) return true
  if (code === null || code < 500) return false
  if (relayDenied.test(text)) return true
  // 5.1.x and 5.2.x speak of an address and its mailbox (RFC 3463 §3.2, §3.3).
  const afterRcpt = phase === 'data' || phase === 'final-dot'
  return afterRcpt && !/^5\.[12]\./.test(enhancedCode ?? '') && accountRefused.test(text)
}

const queueIdForms = [
  /\bqueued as <?([\w.@=-]+)/i, // Postfix, Haraka
  /\bOK id=([\w-]+)/, // Exim
  /^Ok:? ([0-9a-f]{8,}(?:-[0-9a-f]+)+)$/i, // Amazon SES
]

/** The name that the relay gave the message, where its reply has one in a form we know. */
function queueId({ text }: ProviderReply): string | null {
  for (const form of queueIdForms) {
    const id = form.exec(text)?.[1]
    if (id) return id
  }
  return null
}
