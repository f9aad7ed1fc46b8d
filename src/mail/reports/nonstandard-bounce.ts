import { oneLine } from '../text.ts'
import { bouncePhrases, bounceSubjects, delayPhrases } from './bounce-phrases.ts'
import { findDeliveryStatusRecipients } from './dsn.ts'
import { findEnhancedStatus, findReply } from './enhanced-status.ts'
import { isWrittenByMailSystem, notificationText } from './mail-system.ts'
import { findAddresses, findNamedRecipients, recipientLine } from './named-recipients.ts'
import type { ReportedRecipient } from './report.ts'
import { decodeEncodedWords, fieldOf, type ReportMessage } from './report-mime.ts'
import type { OriginalMessage } from './returned-message.ts'

const maxRecipients = 50
const maxDiagnostic = 1000
const minNotification = 12

/**
 * What a notification in no standard form says: qmail, Exim, old Exchange, Notes and their like. Taken for one only where
 * the sender is a mail system and the words, in it or in its subject, are those of one. Null: it is none.
 */
export function readNonstandardBounce(
  message: ReportMessage,
  original: OriginalMessage,
): readonly ReportedRecipient[] | null {
  if (!isWrittenByMailSystem(message)) return null
  const text = notificationText(message)
  const subject = decodeEncodedWords(fieldOf(message.fields, 'subject') ?? '')
  const failed = failedIn(message)
  const isBounce = failed.length > 0 || bouncePhrases.test(text) || bounceSubjects.test(subject)
  if (!isBounce || text.trim().length < minNotification) return null
  const spelledOut = findDeliveryStatusRecipients(text)
  if (spelledOut.length > 0) return spelledOut
  const named = failed.length > 0 ? failed : othersThan(sendersIn(message), findNamedRecipients(text))
  const addresses = named.length > 0 ? named : [original.to ?? '']
  const action = delayPhrases.test(`${subject}\n${text}`) ? 'delayed' : 'failed'
  return addresses.slice(0, maxRecipients).map(address => ({
    finalRecipient: address,
    originalRecipient: null,
    action,
    ...causeOf(address, addresses, text),
    remoteMta: remoteIn(text),
    lastAttemptAt: null,
  }))
}

type FailureCause = Pick<ReportedRecipient, 'enhancedCode' | 'smtpCode' | 'diagnostic'>

/** Gives the cause that the words of a report tell for one of these recipients, for where its fields tell none. */
export function failureCausesIn(message: ReportMessage, all: readonly string[]): (one: string) => FailureCause {
  const text = notificationText(message)
  return one => causeOf(one, all, text)
}

/** X-Failed-Recipients: Exim, Gmail, Mail.ru. */
function failedIn({ fields }: ReportMessage): readonly string[] {
  const values = fields.filter(field => /^x-failed-recipients$/i.test(field.name)).map(field => field.value)
  return findAddresses(values.join(','))
}

/** Whom the report is for, who is none of those that it is about. */
function sendersIn({ fields }: ReportMessage): ReadonlySet<string> {
  return new Set(findAddresses(fieldOf(fields, 'to') ?? '').map(address => address.toLowerCase()))
}

function othersThan(senders: ReadonlySet<string>, addresses: readonly string[]): readonly string[] {
  const others = addresses.filter(address => !senders.has(address.toLowerCase()))
  return others.length > 0 ? others : addresses
}

/** The cause that the text tells of one recipient: the reply that is quoted, or the words. */
function causeOf(one: string, all: readonly string[], text: string): FailureCause {
  const own = all.length === 1 ? withoutGreeting(text) : passageAbout(one, all, text)
  const passage = all.length === 1 && findReply(own) === null && findReply(text) !== null ? text : own
  const reply = findReply(passage)
  const quoted =
    reply === null
      ? passage
      : passage
          .slice(reply.at)
          .split(/\n[ \t]*\n/, 1)
          .join('')
  return {
    enhancedCode: findEnhancedStatus(quoted) ?? findEnhancedStatus(passage),
    smtpCode: reply?.code ?? null,
    diagnostic: oneLine(quoted).slice(0, maxDiagnostic) || null,
  }
}

/** The lines about one of several recipients: from its own to the next one's. */
function passageAbout(one: string, all: readonly string[], text: string): string {
  const from = text.indexOf(one)
  if (from < 0) return text
  const ends = all.flatMap(value => {
    const at = value === one ? -1 : text.indexOf(value, from + one.length)
    return at > from ? [at] : []
  })
  return text.slice(from, ends.length > 0 ? Math.min(...ends) : text.length)
}

/** From the first recipient on, where more than its name follows. */
function withoutGreeting(text: string): string {
  const at = text.search(recipientLine)
  return at > 0 && text.length - at > 60 ? text.slice(at) : text
}

function remoteIn(text: string): string | null {
  return (
    /\b(?:host|server|mailer|mta)\s+([a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?\s*[[(](?:\d|[0-9a-f]*:)/i.exec(text)?.[1] ??
    /\bremote host\s+([a-z0-9-]+(?:\.[a-z0-9-]+)+|[0-9a-f.:]+)\s+said/i.exec(text)?.[1] ??
    null
  )
}
