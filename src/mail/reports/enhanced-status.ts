/** The class of an enhanced status code (RFC 3463 §3.1). */
export type StatusClass = 'success' | 'transient' | 'permanent'

const codePattern = /^\s*([245])\.(\d{1,3})\.(\d{1,3})(?!\d)/

/** The enhanced status code (RFC 3463 §2) at the start of `text`, without leading zeros; null: there is none. */
export function readEnhancedStatus(text: string): string | null {
  const match = codePattern.exec(text)
  return match && [match[1], match[2], match[3]].map(Number).join('.')
}

// Subjects go up to 7 (RFC 3463 §4, RFC 5248). Version numbers and IP addresses are not codes.
const failureCode = /(?<![\w.])([45])\.([0-7])\.(\d{1,3})(?![\w]|\.\d)/g

/** The most specific enhanced status code of a failure in a text, the first of them: 5.1.1 before 5.1.0 before 5.0.0. */
export function findEnhancedStatus(text: string): string | null {
  const found = Array.from(text.matchAll(failureCode), ([, ...digits]) => digits.map(Number).join('.'))
  return found.find(isSpecific) ?? found.find(code => !/^\d\.0\.0$/.test(code)) ?? found[0] ?? null
}

/** Whether the detail of a code is more than `other or undefined` (x.y.0). */
export function isSpecific(code: string): boolean {
  return !code.endsWith('.0')
}

/** The class of a code. */
export function statusClassOf(code: string): StatusClass {
  if (code.startsWith('2')) return 'success'
  return code.startsWith('4') ? 'transient' : 'permanent'
}

const replyPatterns = [
  /(?<![\w.@-])([45][0-5]\d)[ -]+[(#]*[45]\.\d{1,3}\.\d/d,
  /(?:said|returned|responded|response|reason|reply|code|error|<<<|>>>)[^\d\n]{0,24}\b([45][0-5]\d)(?![\w.@])/di,
  /(?:^|[\s:("'[])([45][0-5]\d)(?=[ \-:>,)]|$)(?! ?(?:bytes|KB|MB|seconds|hours|days))/dm,
]

/** The SMTP reply of a failure (RFC 5321 §4.2) that a text quotes: its code and its offset. */
export function findReply(text: string): { readonly code: number; readonly at: number } | null {
  for (const pattern of replyPatterns) {
    const match = pattern.exec(text)
    const range = match?.indices?.[1]
    if (match && range) return { code: Number(match[1]), at: range[0] }
  }
  return null
}

/** The code of the SMTP reply that a text quotes; null: it quotes none. */
export function findReplyCode(text: string): number | null {
  return findReply(text)?.code ?? null
}
