import type { VerifiedMessage } from './signatures.ts'

/**
 * The addresses in all From fields, as mailauth read them for DMARC. Two fields always give at least two entries, an empty one
 * for a field without an address: a single entry means one field with one address.
 */
export function fromAddresses({ verifier }: VerifiedMessage): readonly string[] {
  const { headerFrom, fromFields } = verifier
  if (fromFields < 2 || headerFrom.length > 1) return headerFrom
  return [...headerFrom, ...Array<string>(2 - headerFrom.length).fill('')]
}
