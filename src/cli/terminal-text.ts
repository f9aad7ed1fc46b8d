/**
 * Text from outside, safe to print on a terminal: control characters, which could move the cursor or overwrite other output,
 * and characters that change the direction of writing become `�`.
 */
export function sanitizeForTerminal(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '�')
}
