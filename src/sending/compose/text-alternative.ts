import { htmlToText } from '../../mail/html-to-text/html-to-text.ts'

/** More HTML is not converted, in characters: a text alternative is for reading. */
const maxHtml = 128 * 1024

/** The text part that goes with an HTML part (RFC 2046 §5.1.4), with CRLF line ends; a space where the HTML shows no text. */
export function textAlternative(html: string): string {
  const text = htmlToText(html.slice(0, maxHtml), { withLinks: true })
  return text.trim() === '' ? ' ' : text.replace(/\r\n|\r|\n/g, '\r\n')
}
