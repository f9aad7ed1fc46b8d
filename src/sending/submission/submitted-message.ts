import { createHash } from 'node:crypto'
import type { Instant } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { type Address, parseAddress } from '../../mail/address.ts'
import type { HeaderField } from '../../mail/header.ts'
import type { SummaryWithoutText } from '../../mail/message.ts'
import { invalidParameter } from '../accept/invalid-parameter.ts'
import { defaultExpiryMs, type EmailDescription } from '../accept/parse-request.ts'
import { type EnvelopeRecipient, maxRecipients, type RecipientLists } from '../accept/recipients.ts'
import { readMailroomFields } from './mailroom-fields.ts'
import type { MessageReader } from './message-reader.ts'
import { readOriginator } from './originators.ts'
import type { ReadMessage } from './read-message.ts'

/** A message that a client composed and submitted, with every field that matters here checked. */
export interface SubmittedMessage {
  readonly email: EmailDescription
  /** Those of the envelope, in the order to, cc, bcc; `bcc`: the message does not name them. */
  readonly recipients: readonly EnvelopeRecipient[]
  /** The client's Message-ID, without angle brackets; null: there is none, or none that can be kept. */
  readonly messageId: string | null
  /** null: the client gave none. */
  readonly idempotency: SubmittedKey | null
  /** The number of Received fields. */
  readonly hops: number
  /** As it came, but with CRLF line ends and in 7 bit. */
  readonly bytes: Buffer
}

/** An idempotency key, and what it is for. */
export interface SubmittedKey {
  readonly key: string
  /** SHA-256 of what the email says and to whom, without what programs make anew at each attempt: Date, Message-ID, boundaries. */
  readonly digest: Buffer
}

/** Of a Message-ID, in octets. */
const maxMessageId = 320
const messageIdForm = /^[!-;=?A-~]+@[!-;=?A-~]+$/

/**
 * Reads a submitted message.
 * @param recipients the addresses of the envelope, canonical, none twice
 * @throws Refusal `invalid_request`, `from_not_allowed`; `unavailable` when reading takes too long
 */
export async function readSubmittedMessage(
  message: Buffer,
  recipients: readonly Address[],
  { reader, now }: { readonly reader: MessageReader; readonly now: Instant },
): Promise<SubmittedMessage> {
  const reading = await reader.read(message)
  if (reading.kind === 'malformed') throw invalidParameter('message', reading.problem)
  const { summary, bytes } = reading
  const from = readOriginator(summary.headers)
  const { idempotencyKey, ...handling } = readMailroomFields(summary.headers, now)
  const lists = recipientLists(summary, recipients)
  const email: EmailDescription = {
    from,
    recipients: lists,
    replyTo: summary.replyTo.slice(0, maxRecipients),
    subject: summary.subject,
    attachments: summary.attachments.map(({ filename, contentType, contentId, size }) => ({
      id: newId('att'),
      filename,
      contentType,
      contentId,
      size,
    })),
    headers: threadFields(summary.headers),
    ...handling,
    expiresInMs: defaultExpiryMs,
    unsubscribe: false,
    template: null,
  }
  const envelope = envelopeOf(lists, recipients)
  return {
    email,
    recipients: envelope,
    messageId: keptMessageId(summary),
    idempotency:
      idempotencyKey === null ? null : { key: idempotencyKey, digest: contentDigest(email, envelope, reading) },
    hops: summary.hops,
    bytes,
  }
}

/** To and Cc as the message shows them; as Bcc, those of the envelope that it does not name. */
function recipientLists({ to, cc }: SummaryWithoutText, envelope: readonly Address[]): RecipientLists {
  const named = new Set([...to, ...cc].map(keyOf))
  return {
    to: shown(to),
    cc: shown(cc),
    bcc: envelope.filter(recipient => !named.has(keyOf(recipient))),
    namedCount: envelope.length,
  }
}

/** A header may name many more than the envelope does, such as the members of a group. */
function shown(addresses: readonly Address[]): readonly Address[] {
  return addresses.slice(0, maxRecipients)
}

function envelopeOf(
  { to, cc }: Pick<SummaryWithoutText, 'to' | 'cc'>,
  envelope: readonly Address[],
): readonly EnvelopeRecipient[] {
  const [inTo, inCc] = [new Set(to.map(keyOf)), new Set(cc.map(keyOf))]
  const typeOf = (key: string) => (inTo.has(key) ? 'to' : inCc.has(key) ? 'cc' : 'bcc')
  const recipients = envelope.map(recipient => ({ email: recipient.address, type: typeOf(keyOf(recipient)) }) as const)
  return (['to', 'cc', 'bcc'] as const).flatMap(type => recipients.filter(recipient => recipient.type === type))
}

function keyOf({ address }: Address): string {
  return address.toLowerCase()
}

function threadFields(headers: readonly HeaderField[]): readonly HeaderField[] {
  return headers.filter(({ name }) => /^(?:in-reply-to|references)$/i.test(name))
}

/** One Message-ID that fits our tables, or none. RFC 5322 §3.6.4. */
function keptMessageId({ messageId, headers }: SummaryWithoutText): string | null {
  const count = headers.filter(({ name }) => name.toLowerCase() === 'message-id').length
  const isKept = count === 1 && messageId !== null && messageId.length <= maxMessageId && messageIdForm.test(messageId)
  return isKept ? messageId : null
}

function contentDigest(
  email: EmailDescription,
  recipients: readonly EnvelopeRecipient[],
  { summary, text: body }: ReadMessage,
): Buffer {
  if (!body) throw new Error('the text of a message with an idempotency key was not read')
  const { from, subject, tags, metadata, scheduledAt } = email
  const attachments = summary.attachments.map(({ filename, sha256 }) => [filename, Buffer.from(sha256).toString('hex')])
  const { text, html } = body
  return createHash('sha256')
    .update(JSON.stringify([from, recipients, subject, tags, metadata, scheduledAt, text, html, attachments]))
    .digest()
}

/** The canonical address of a recipient as RCPT gives it. @throws Refusal `invalid_request` */
export function readEnvelopeRecipient(text: string): Address {
  const address = parseAddress(text)
  if (!address) throw invalidParameter('rcpt', `${JSON.stringify(text.slice(0, 100))} is not an address`)
  return address
}
