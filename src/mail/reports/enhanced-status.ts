/** What the class of an enhanced status code says of a delivery. RFC 3463 §3.1. */
export type StatusClass = 'success' | 'transient' | 'permanent'

const codeForm = /^\s*([245])\.(\d{1,3})\.(\d{1,3})(?!\d)/

/** An enhanced status code (RFC 3463 §2) at the start of `text`, without leading zeros; null: there is none. */
export function readEnhancedStatus(text: string): string | null {
  const match = codeForm.exec(text)
  return match && [match[1], match[2], match[3]].map(Number).join('.')
}

// Subjects end at 7 (RFC 3463 §4, RFC 5248); neither a version nor an IP address is a code.
const failureCode = /(?<![\w.])([45])\.([0-7])\.(\d{1,3})(?![\w]|\.\d)/g

/** The first enhanced status code of a failure in a text that tells most: 5.1.1 before 5.1.0, that before 5.0.0. */
export function findEnhancedStatus(text: string): string | null {
  const found = Array.from(text.matchAll(failureCode), ([, ...digits]) => digits.map(Number).join('.'))
  return found.find(isSpecific) ?? found.find(code => !/^\d\.0\.0$/.test(code)) ?? found[0] ?? null
}

/** Does a code tell more than its class and subject? */
export function isSpecific(code: string): boolean {
  return !code.endsWith('.0')
}

export function statusClassOf(code: string): StatusClass {
  if (code.startsWith('2')) return 'success'
  return code.startsWith('4') ? 'transient' : 'permanent'
}

const replyForms = [
  /(?<![\w.@-])([45][0-5]\d)[ -]+[(#]*[45]\.\d{1,3}\.\d/d,
  /(?:said|returned|responded|response|reason|reply|code|error|<<<|>>>)[^\d\n]{0,24}\b([45][0-5]\d)(?![\w.@])/di,
  /(?:^|[\s:("'[])([45][0-5]\d)(?=[ \-:>,)]|$)(?! ?(?:bytes|KB|MB|seconds|hours|days))/dm,
]

/** The SMTP reply (RFC 5321 §4.2) of a failure that a text quotes: its code, and where it begins. */
export function findReply(text: string): { readonly code: number; readonly at: number } | null {
  for (const form of replyForms) {
    const match = form.exec(text)
    const place = match?.indices?.[1]
    if (match && place) return { code: Number(match[1]), at: place[0] }
  }
  return null
}

export function findReplyCode(text: string): number | null {
  return findReply(text)?.code ?? null
}
