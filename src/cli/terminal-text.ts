/**
 * Text that strangers wrote, as a terminal may be given it: control characters, which could move the cursor or change what
 * stands elsewhere, and those that turn the direction of writing are shown as `�`.
 */
export function sanitizeForTerminal(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '�')
}
