import { truncate } from '../../mail/text.ts'

/** The text beyond so many characters is ignored. */
const maxCharacters = 256 * 1024
const maxLineCharacters = 300

// Each is matched against one line (or two joined) of bounded length, so that no text can make it slow.
const attributions: readonly RegExp[] = [
  /^(?:on|am|le|el|il|op|em|den|dne|w dniu|vào) .{4,250}(?:wrote|schrieb[^:]{0,80}|a écrit|escribió|ha scritto|schreef[^:]{0,80}|escreveu|skrev[^:]{0,80}|napsal\(a\)|napisał\(a\)|đã viết)\s?:$/i,
  /^.{4,250}(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|skrev|写道|のメール|于.{2,60}写道)\s?[:：]$/i,
  /^-{2,}\s?(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|forwarded message)\s?-{2,}$/i,
  /^_{20,}$/,
]
const headerLine = /^\*?(?:from|von|de|da|van|发件人|差出人)\s?[:：]\*?\s.{1,250}$/i
const headerFollows =
  /^\*?(?:sent|date|to|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|para|asunto|inviato|发送时间|送信日時)\s?[:：]/i
const sentFrom = /^(?:sent from my .{1,60}|get outlook for .{1,40}|von meinem .{1,60} gesendet|envoyé de mon .{1,60})$/i

/**
 * What is new in the plain text of a reply: without the quoted message (from its attribution line on), lines quoted with
 * `>`, and the signature (RFC 3676 §4.3). Linear in the length of the text.
 */
export function replyTextOf(text: string): string {
  const lines = text.slice(0, maxCharacters).replace(/\r\n?/g, '\n').split('\n')
  const newLines: string[] = []
  for (const [i, line] of lines.entries()) {
    const trimmed = line.trim()
    if (line === '-- ' || line === '--' || sentFrom.test(trimmed.slice(0, maxLineCharacters))) break
    if (beginsQuotation(trimmed, lines[i + 1]?.trim() ?? '')) break
    if (!trimmed.startsWith('>')) newLines.push(line.trimEnd())
  }
  return newLines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** What is new in the text of a message, as events give it out. */
export interface ReplyText {
  readonly text: string
  /** The message has more. */
  readonly isCut: boolean
}

/** So much of a text is looked at for an event, in characters: a message is filed while its sender waits. */
const maxLookedAt = 32 * 1024
/** Of the reply, as it stands in JSON: where control characters take six bytes. */
const maxReplyBytes = 8 * 1024

/** {@link replyTextOf} for an event: at most 8 KB. */
export function shortReplyTextOf(text: string): ReplyText {
  const reply = replyTextOf(text.slice(0, maxLookedAt))
  const short = cutJson(reply, maxReplyBytes)
  return { text: short, isCut: short.length < reply.length || text.length > maxLookedAt }
}

/** The longest beginning that takes at most so many bytes in JSON. */
function cutJson(text: string, maxBytes: number): string {
  const fits = (length: number) => Buffer.byteLength(JSON.stringify(text.slice(0, length))) <= maxBytes
  if (text.length * 6 < maxBytes || fits(text.length)) return text
  let [fitting, tooLong] = [0, Math.min(text.length, maxBytes)]
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1
    if (fits(middle)) fitting = middle
    else tooLong = middle
  }
  return truncate(text, fitting)
}

/** Does the line end like one that introduces a quotation? Asked first, since few do, and the patterns cost more. */
const attributionEnd = /[:：_-]$/

function beginsQuotation(line: string, next: string): boolean {
  if (line === '' || line.length > maxLineCharacters) return false
  if (headerLine.test(line)) return headerFollows.test(next)
  if (!attributionEnd.test(line) && !attributionEnd.test(next)) return false
  const folded = next.length < maxLineCharacters - line.length ? `${line} ${next}` : line
  return attributions.some(
    pattern => pattern.test(line) || (/^(?:on|am|le|el|il|op|em|den) /i.test(line) && pattern.test(folded)),
  )
}
