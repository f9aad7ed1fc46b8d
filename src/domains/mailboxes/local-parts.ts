/**
 * The local parts of the mailboxes that mail for `localPart` may go to, the best first: its own, that before a `+`, and
 * that of the catch-all, which is empty. Local parts compare without case.
 */
export function candidateLocalParts(localPart: string): readonly string[] {
  const exact = localPart.normalize('NFC').toLowerCase()
  const plus = exact.indexOf('+')
  return [...new Set([exact, ...(plus > 0 ? [exact.slice(0, plus)] : []), ''])]
}
