import { type HeaderField, readFields, readIdentifiers, unfold } from '../header.ts'
import { fieldOf, type ReportMessage } from './report-mime.ts'

/** What a report returns of the reported message. */
export interface OriginalMessage {
  /** Without angle brackets. */
  readonly messageId: string | null
  /** X-Mailroom-Id, which every email that we send has. */
  readonly mailroomId: string | null
  /** The first address in To. */
  readonly to: string | null
  /** X-HmXmrOriginalRecipient: the recipient who complained, in Outlook.com's complaints. */
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

/** Whether a part of this media type is a returned message or its header. */
export function isReturnedMessageType(type: string): boolean {
  return returnedTypes.has(type)
}

/** Reads the returned message or its header; where none is attached, the header fields quoted in the text. */
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

const quotedField = /^[>\s]{0,6}(message-id|x-mailroom-id|to):[ \t]*(\S.*(?:\n[ \t]+\S.*)?)$/gim

function fieldsInText(text: string): readonly HeaderField[] {
  const fields = Array.from(text.matchAll(quotedField), ([, name = '', value = '']) => ({ name, value }))
  // Without a Message-ID these are not header fields, only words.
  return fields.some(field => field.name.toLowerCase() === 'message-id') ? fields : []
}
