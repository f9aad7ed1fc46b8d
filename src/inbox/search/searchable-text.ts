import { paced } from '../../base/concurrency/paced.ts'
import { fromJson } from '../../base/database/schema.ts'
import { htmlToText, htmlToTextInSteps } from '../../mail/html-to-text/html-to-text.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { UnindexedRow } from './table.ts'
import { toSearchText, toSearchTextInSteps } from './tokenizer.ts'

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

/** What follows the `<` of a tag or a comment; before anything else it is text. */
const tagStart = /[a-z/!?]/i

/**
 * Whether the HTML may have much more text, so that {@link searchableBody} needs to know it: not where all that is between its
 * tags, hidden or not, is too short. That is counted at a fraction of the cost of converting the HTML.
 */
export function needsHtmlText(text: string | null, html: string): boolean {
  return text === null || charactersBetweenTags(html) >= 2 * text.length
}

/** Too many rather than too few: what is no tag, and what is behind a `>` in an attribute, counts. */
function charactersBetweenTags(html: string): number {
  let count = 0
  let at = 0
  for (;;) {
    const open = html.indexOf('<', at)
    if (open < 0) return count + html.length - at
    const close = tagStart.test(html.charAt(open + 1)) ? html.indexOf('>', open) : open
    if (close < 0) return count + html.length - at
    count += open - at + (close === open ? 1 : 0)
    at = close + 1
  }
}

/** Of the text of HTML for the search index: the first million characters, or somewhat more. */
const htmlOptions = { maxCharacters: 1_000_000 }

export function searchableHtmlText(html: string): string {
  return htmlToText(html, htmlOptions)
}

/** Of the texts whose words are made while a message is received, in characters: its sender waits for them. */
const maxTextAtFiling = 256 * 1024
/** The most words that are stored together with the message, in bytes: many messages share a statement. */
const maxWordsAtFiling = 256 * 1024

/**
 * The words of a message's content, as they are stored, made where it is parsed, so that it need not be read and parsed again:
 * in steps, between which the event loop has its turn. null: its text is too long, or incomplete; the job `search-index`
 * indexes it later.
 */
export async function contentWords(
  summary: SearchableContent & Pick<MessageSummary, 'problem'>,
): Promise<string | null> {
  const { text, html, problem } = summary
  if (problem !== null || (text?.length ?? 0) + (html?.length ?? 0) > maxTextAtFiling) return null
  const hasOwnText = html !== null && needsHtmlText(text, html)
  const body = searchableBody(text, hasOwnText ? await paced(htmlToTextInSteps(html, htmlOptions)) : '')
  const words = await paced(toSearchTextInSteps(searchableContentText(summary, body)))
  return words === null || words.length > maxWordsAtFiling ? null : words
}

/** The words of a message, from those of its content. */
export function wordsOf(row: SearchableRow, ofContent: string): string {
  const words = [toSearchText(searchableRowText(row)), ofContent].map(part => part.trim())
  return ` ${words.filter(part => part !== '').join(' ')} `
}
