import { fromJson } from '../../base/database/schema.ts'
import { htmlToText } from '../../mail/html-to-text/html-to-text.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { UnindexedRow } from './table.ts'
import { toSearchText } from './tokenizer.ts'

/** What a message is found by that is in its row: subject and addresses. */
export type SearchableRow = Pick<UnindexedRow, 'subject' | 'from_name' | 'from_address' | 'to_addresses' | 'rcpt_to'>

/** What a message is found by beyond its row: further addresses, names of attachments, text. */
export type SearchableContent = Pick<MessageSummary, 'cc' | 'attachments' | 'text' | 'html'>

export function searchableRowText({ subject, from_name, from_address, to_addresses, rcpt_to }: SearchableRow): string {
  const to = fromJson(to_addresses).flatMap(({ name, address }) => [name, address])
  return [subject, from_name, from_address, ...to, rcpt_to].join('\n')
}

/** The text last: it may be long, and then nothing else is cut off. @param body see {@link searchableBody} */
export function searchableContentText({ cc, attachments }: SearchableContent, body: string): string {
  const addresses = cc.flatMap(({ name, address }) => [name, address])
  return [...addresses, ...attachments.map(attachment => attachment.filename), body].join('\n')
}

/**
 * The text, unless the HTML has much more: beside HTML, plain text is often only a note that there is HTML.
 * @param fromHtml the text of the HTML
 */
export function searchableBody(text: string | null, fromHtml: string): string {
  return text !== null && fromHtml.length < 2 * text.length ? text : fromHtml
}

/** The text of HTML for the search index: the first million characters, or somewhat more. */
export function searchableHtmlText(html: string): string {
  return htmlToText(html, { maxCharacters: 1_000_000 })
}

/** The most words that are stored together with the message, in bytes: many messages share a statement. */
const maxWordsAtFiling = 256 * 1024

/**
 * The words of a message's content, as they are stored, made while it is parsed, so that it need not be read and parsed again.
 * null: its text is longer than `maxCharacters`, or incomplete; the job `search-index` indexes it later.
 */
export function contentWords(
  summary: SearchableContent & Pick<MessageSummary, 'problem'>,
  maxCharacters: number,
): string | null {
  const { text, html, problem } = summary
  if (problem !== null || (text?.length ?? 0) + (html?.length ?? 0) > maxCharacters) return null
  const body = searchableBody(text, html === null ? '' : searchableHtmlText(html))
  const words = toSearchText(searchableContentText(summary, body))
  return words.length > maxWordsAtFiling ? null : words
}

/** The words of a message, from those of its content. */
export function wordsOf(row: SearchableRow, ofContent: string): string {
  const words = [toSearchText(searchableRowText(row)), ofContent].map(part => part.trim())
  return ` ${words.filter(part => part !== '').join(' ')} `
}
