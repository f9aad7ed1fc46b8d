import { compile } from 'html-to-text'

/** More is not looked at: a text alternative is for reading. */
const maxHtmlLength = 128 * 1024

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: 100 },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(selector => ({ selector, options: { uppercase: false } })),
  ],
})

/** The text that stands for html (RFC 2046 §5.1.4), with CRLF line ends; a space where the html shows no text. */
export function textOf(html: string): string {
  const text = convert(html.slice(0, maxHtmlLength))
  return text.trim() === '' ? ' ' : text.replace(/\r\n|\r|\n/g, '\r\n')
}
