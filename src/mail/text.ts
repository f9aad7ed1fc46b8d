/** The text on one line: each run of white space and control characters is one space, none at either end. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
}

/** The text with each run of control characters as one space, none at either end. */
export function withoutControls(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

/** At most `max` characters (UTF-16 units), well formed, never half a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed()
  const isPairCut = (text.charCodeAt(max - 1) & 0xfc00) === 0xd800
  return text.slice(0, isPairCut ? max - 1 : max).toWellFormed()
}
