import { type Address, formatAddress } from '../../mail/address.ts'
import { truncate } from '../../mail/text.ts'

/** What is said of a message where it is quoted, and how. */
export interface Quotation {
  /** `reply`: below the answer, its lines marked. `forward`: as it is, below its own header in short. */
  readonly kind: 'reply' | 'forward'
  readonly from: readonly Address[]
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly subject: string
  /** Milliseconds since 1970. */
  readonly sentAtMs: number
  /** The most that the whole may have. */
  readonly maxBytes: number
}

/** The most that a reply quotes, in characters; a forwarded message is whole where it fits. */
const maxQuotedCharacters = 64 * 1024
const maxShownName = 150
const maxListed = 20
const cut = '[…]'
/** What the parts are joined with takes less. */
const spareBytes = 1024

/**
 * A text with that of the message it answers or forwards below: quoted after `>` (RFC 3676 §4.5), or as it is. Of one for
 * which there is no room the beginning is quoted; a reply without room for any goes without.
 * @param about a {@link Quotation} in JSON: this runs on a thread
 */
export function quoteInText(text: string, original: string, about: string): string {
  const quotation = JSON.parse(about) as Quotation
  const isReply = quotation.kind === 'reply'
  const heading = isReply ? [attribution(quotation)] : [...summary(quotation), '']
  const room = quotation.maxBytes - wireBytes(text) - wireBytes(heading.join('\n')) - spareBytes
  if (isReply && room < 0) return text
  const lines = linesThatFit(
    cleaned(truncate(original, isReply ? maxQuotedCharacters : quotation.maxBytes)).trimEnd(),
    room,
  )
  if (isReply && original.length > maxQuotedCharacters && lines.at(-1) !== cut) lines.push(cut)
  const before = text === '' ? '' : `${text.trimEnd()}\n\n`
  return `${before}${[...heading, ...(isReply ? lines.map(prefixLine) : lines)].join('\n')}\n`
}

/**
 * As {@link quoteInText}, in HTML: the message's own, which has been sanitized, or where it has none or there is no room
 * for it, its text.
 */
export function quoteInHtml(html: string, originalHtml: string, originalText: string, about: string): string {
  const quotation = JSON.parse(about) as Quotation
  const room = quotation.maxBytes - wireBytes(html) - spareBytes
  const whole = quoteBlock(quotation, originalHtml)
  if (originalHtml !== '' && wireBytes(whole) <= room) return appendToBody(html, whole)
  // An escaped character takes six bytes at most, a line end eight.
  const kept = truncate(originalText, Math.max(0, Math.min(maxQuotedCharacters, Math.floor(room / 8) - spareBytes)))
  const inText = quoteBlock(quotation, htmlOfText(kept.length < originalText.length ? `${kept}\n${cut}` : kept))
  return quotation.kind === 'forward' || wireBytes(inText) <= room ? appendToBody(html, inText) : html
}

/** Text as HTML that shows the same. */
export function htmlOfText(text: string): string {
  return `<div>${escaped(cleaned(text)).replaceAll('\n', '<br>\n')}</div>`
}

function prefixLine(line: string): string {
  if (line === '') return '>'
  return line.startsWith('>') ? `>${line}` : `> ${line}`
}

/** As many of the text's lines as there is room for, marked or not. */
function linesThatFit(text: string, maxBytes: number): string[] {
  const lines: string[] = []
  if (text === '') return lines
  let room = maxBytes
  for (const line of text.split('\n')) {
    // A mark and the line end.
    room -= Buffer.byteLength(line) + 4
    if (room < 0) {
      lines.push(cut)
      break
    }
    lines.push(line)
  }
  return lines
}

function quoteBlock(quotation: Quotation, inner: string): string {
  if (quotation.kind === 'forward') return `<p>${summary(quotation).map(escaped).join('<br>')}</p><div>${inner}</div>`
  const style = 'margin:0 0 0 0.8ex;border-left:1px solid #ccc;padding-left:1ex'
  return `<p>${escaped(attribution(quotation))}</p><blockquote type="cite" style="${style}">${inner}</blockquote>`
}

/** After what is there, within its body element. */
function appendToBody(html: string, addition: string): string {
  const tail = html.slice(-200)
  const end = /<\/body\s*>\s*(?:<\/html\s*>\s*)?$/i.exec(tail)?.[0].length ?? 0
  return `${html.slice(0, html.length - end)}${addition}${html.slice(html.length - end)}`
}

/** As the body will be counted: each line end is CRLF. */
function wireBytes(text: string): number {
  let lineEnds = 0
  for (let at = text.search(/[\r\n]/); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || code === 0x0d) lineEnds++
  }
  return Buffer.byteLength(text) + lineEnds
}

function attribution({ from: [author], sentAtMs }: Quotation): string {
  return `On ${shownTime(sentAtMs)}, ${author ? truncate(formatAddress(author), maxShownName) : 'someone'} wrote:`
}

function summary({ from, to, cc, subject, sentAtMs }: Quotation): readonly string[] {
  return [
    '---------- Forwarded message ----------',
    `From: ${shownAddresses(from)}`,
    `Date: ${shownTime(sentAtMs)}`,
    `Subject: ${subject}`,
    ...(to.length > 0 ? [`To: ${shownAddresses(to)}`] : []),
    ...(cc.length > 0 ? [`Cc: ${shownAddresses(cc)}`] : []),
  ]
}

function shownAddresses(addresses: readonly Address[]): string {
  const more = addresses.length > maxListed ? ', …' : ''
  return addresses.slice(0, maxListed).map(formatAddress).join(', ') + more
}

/** `Sat, 31 Jan 2026 at 08:15 UTC` */
function shownTime(ms: number): string {
  return new Date(ms).toUTCString().replace(/ (\d\d:\d\d):\d\d GMT$/, ' at $1 UTC')
}

/** With LF as line ends, and without control characters, which no message may hold. */
function cleaned(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
