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

function beginsQuotation(line: string, next: string): boolean {
  if (line === '' || line.length > maxLineCharacters) return false
  if (headerLine.test(line)) return headerFollows.test(next)
  const folded = next.length < maxLineCharacters - line.length ? `${line} ${next}` : line
  return attributions.some(
    pattern => pattern.test(line) || (/^(?:on|am|le|el|il|op|em|den) /i.test(line) && pattern.test(folded)),
  )
}
