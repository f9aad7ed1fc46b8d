/**
 * The local parts of the mailboxes that may receive mail for `localPart`, best first: its own, the part before a `+`, and the
 * catch-all's, which is empty. Local parts are compared case-insensitively.
 */
export function candidateLocalParts(localPart: string): readonly string[] {
  const exact = localPart.normalize('NFC').toLowerCase()
  const plus = exact.indexOf('+')
  return [...new Set([exact, ...(plus > 0 ? [exact.slice(0, plus)] : []), ''])]
}
