import { type Address, formatAddress } from '../../mail/address.ts'
import { truncate } from '../../mail/text.ts'

/** How a message is quoted, and the header fields that stand above it. */
export interface Quotation {
  /** `reply`: below an attribution line, its lines behind `>`. `forward`: unchanged, below the main fields of its header. */
  readonly kind: 'reply' | 'forward'
  readonly from: readonly Address[]
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly subject: string
  /** Milliseconds since 1970. */
  readonly sentAtMs: number
  /** The longest that the whole body may be. */
  readonly maxBytes: number
}

/** The most that a reply quotes; a forwarded message is whole where it fits. */
const maxQuotedCharacters = 64 * 1024
const maxShownName = 150
const maxListed = 20
const ellipsis = '[…]'
/** More than what joins the parts takes. */
const spareBytes = 1024

/**
 * The text of a reply with the original's below it, quoted with `>` (RFC 3676 §4.5); or that of a forward, with the original
 * unchanged. Where the whole would be too long only the beginning is quoted, and in a reply nothing if not even that fits.
 * @param quotationJson a {@link Quotation}, as JSON because this runs on a worker
 */
export function quoteInText(text: string, original: string, quotationJson: string): string {
  const quotation = JSON.parse(quotationJson) as Quotation
  const isReply = quotation.kind === 'reply'
  const heading = isReply ? [attribution(quotation)] : [...forwardedHeader(quotation), '']
  const bytesLeft = quotation.maxBytes - wireBytes(text) - wireBytes(heading.join('\n')) - spareBytes
  if (isReply && bytesLeft < 0) return text
  const lines = linesThatFit(
    cleanText(truncate(original, isReply ? maxQuotedCharacters : quotation.maxBytes)).trimEnd(),
    bytesLeft,
  )
  if (isReply && original.length > maxQuotedCharacters && lines.at(-1) !== ellipsis) lines.push(ellipsis)
  const before = text === '' ? '' : `${text.trimEnd()}\n\n`
  return `${before}${[...heading, ...(isReply ? lines.map(prefixLine) : lines)].join('\n')}\n`
}

/**
 * As {@link quoteInText}, in HTML: with the original's HTML, which has been sanitized, or if it has none or that is too long,
 * with its text.
 */
export function quoteInHtml(html: string, originalHtml: string, originalText: string, quotationJson: string): string {
  const quotation = JSON.parse(quotationJson) as Quotation
  const bytesLeft = quotation.maxBytes - wireBytes(html) - spareBytes
  const whole = quoteBlock(quotation, originalHtml)
  if (originalHtml !== '' && wireBytes(whole) <= bytesLeft) return appendToBody(html, whole)
  // An escaped character takes six bytes at most, a line end eight.
  const clipped = truncate(
    originalText,
    Math.max(0, Math.min(maxQuotedCharacters, Math.floor(bytesLeft / 8) - spareBytes)),
  )
  const inText = quoteBlock(
    quotation,
    htmlOfText(clipped.length < originalText.length ? `${clipped}\n${ellipsis}` : clipped),
  )
  return quotation.kind === 'forward' || wireBytes(inText) <= bytesLeft ? appendToBody(html, inText) : html
}

/** Plain text as HTML that looks the same. */
export function htmlOfText(text: string): string {
  return `<div>${escapeHtml(cleanText(text)).replaceAll('\n', '<br>\n')}</div>`
}

function prefixLine(line: string): string {
  if (line === '') return '>'
  return line.startsWith('>') ? `>${line}` : `> ${line}`
}

/** As many of the text's lines as fit, also with a prefix. */
function linesThatFit(text: string, maxBytes: number): string[] {
  const lines: string[] = []
  if (text === '') return lines
  let bytesLeft = maxBytes
  for (const line of text.split('\n')) {
    // The prefix and the line end.
    bytesLeft -= Buffer.byteLength(line) + 4
    if (bytesLeft < 0) {
      lines.push(ellipsis)
      break
    }
    lines.push(line)
  }
  return lines
}

function quoteBlock(quotation: Quotation, inner: string): string {
  if (quotation.kind === 'forward')
    return `<p>${forwardedHeader(quotation).map(escapeHtml).join('<br>')}</p><div>${inner}</div>`
  const style = 'margin:0 0 0 0.8ex;border-left:1px solid #ccc;padding-left:1ex'
  return `<p>${escapeHtml(attribution(quotation))}</p><blockquote type="cite" style="${style}">${inner}</blockquote>`
}

/** At the end of the body element, if there is one. */
function appendToBody(html: string, addition: string): string {
  const tail = html.slice(-200)
  const end = /<\/body\s*>\s*(?:<\/html\s*>\s*)?$/i.exec(tail)?.[0].length ?? 0
  return `${html.slice(0, html.length - end)}${addition}${html.slice(html.length - end)}`
}

/** The size with CRLF line ends, as the limit of a body counts it. */
function wireBytes(text: string): number {
  let lineEnds = 0
  for (let at = text.search(/[\r\n]/); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || code === 0x0d) lineEnds++
  }
  return Buffer.byteLength(text) + lineEnds
}

function attribution({ from: [author], sentAtMs }: Quotation): string {
  return `On ${formatTime(sentAtMs)}, ${author ? truncate(formatAddress(author), maxShownName) : 'someone'} wrote:`
}

function forwardedHeader({ from, to, cc, subject, sentAtMs }: Quotation): readonly string[] {
  return [
    '---------- Forwarded message ----------',
    `From: ${formatAddresses(from)}`,
    `Date: ${formatTime(sentAtMs)}`,
    `Subject: ${subject}`,
    ...(to.length > 0 ? [`To: ${formatAddresses(to)}`] : []),
    ...(cc.length > 0 ? [`Cc: ${formatAddresses(cc)}`] : []),
  ]
}

function formatAddresses(addresses: readonly Address[]): string {
  const more = addresses.length > maxListed ? ', …' : ''
  return addresses.slice(0, maxListed).map(formatAddress).join(', ') + more
}

/** `Sat, 31 Jan 2026 at 08:15 UTC` */
function formatTime(ms: number): string {
  return new Date(ms).toUTCString().replace(/ (\d\d:\d\d):\d\d GMT$/, ' at $1 UTC')
}

/** With LF line ends, and without the control characters that no message may contain (RFC 5322 §2.1.1). */
function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
