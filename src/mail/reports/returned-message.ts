import { type HeaderField, readFields, readIdentifiers, unfold } from '../header.ts'
import { fieldOf, type ReportMessage } from './report-mime.ts'

/** What a report returns of the message that it is about. */
export interface OriginalMessage {
  /** Without angle brackets. */
  readonly messageId: string | null
  /** X-Mailroom-Id, which we put into what we send. */
  readonly mailroomId: string | null
  /** The first address in To. */
  readonly to: string | null
  /** X-HmXmrOriginalRecipient: whom Outlook.com's complaints are from. */
  readonly complainant: string | null
}

export const noOriginal: OriginalMessage = { messageId: null, mailroomId: null, to: null, complainant: null }

const returnedTypes = new Set([
  'message/rfc822',
  'message/rfc822-headers',
  'text/rfc822-headers',
  'text/rfc822',
  'message/global',
  'message/global-headers',
  'message/partial',
])

export function isReturnedMessageType(type: string): boolean {
  return returnedTypes.has(type)
}

/** What the returned message, or its header, says; where none is attached, the header that stands in the text. */
export function readOriginalMessage({ parts }: ReportMessage): OriginalMessage {
  const returned = parts.find(part => isReturnedMessageType(part.type))
  const fields = returned ? fieldsOf(returned.text.trimStart()) : fieldsInText(parts.map(part => part.text).join('\n'))
  const to = fieldOf(fields, 'to')
  return {
    messageId: readIdentifiers(fieldOf(fields, 'message-id') ?? '')[0] ?? null,
    mailroomId: /^eml_[0-9a-z]{26}$/.exec(fieldOf(fields, 'x-mailroom-id')?.trim() ?? '')?.[0] ?? null,
    to: to === undefined ? null : (/[^\s<>,;"]+@[^\s<>,;"]+/.exec(to)?.[0] ?? null),
    complainant: fieldOf(fields, 'x-hmxmroriginalrecipient')?.replace(/[<>\s]/g, '') ?? null,
  }
}

function fieldsOf(head: string): readonly HeaderField[] {
  return readFields(Buffer.from(head, 'utf8'), 500).map(unfold)
}

const wanted = /^[>\s]{0,6}(message-id|x-mailroom-id|to):[ \t]*(\S.*(?:\n[ \t]+\S.*)?)$/gim

function fieldsInText(text: string): readonly HeaderField[] {
  const fields = Array.from(text.matchAll(wanted), ([, name = '', value = '']) => ({ name, value }))
  // Without a Message-ID there is no header here, only words.
  return fields.some(field => field.name.toLowerCase() === 'message-id') ? fields : []
}
