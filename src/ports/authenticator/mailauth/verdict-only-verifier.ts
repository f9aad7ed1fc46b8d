import { RelaxedHash } from 'mailauth/lib/dkim/body/relaxed.js'
import { DkimVerifier, type SignatureHeader } from 'mailauth/lib/dkim/dkim-verifier.js'
import { hashRelaxedLines } from './relaxed-body.ts'

/**
 * mailauth's verifier without what it makes for others: an Authentication-Results field and an id of each signature, and where the
 * MIME structure starts, for which it reads the body byte by byte. What it finds of a signature is the same.
 */
export class VerdictOnlyVerifier extends DkimVerifier {
  override addBodyHash(...of: Parameters<DkimVerifier['addBodyHash']>): string {
    const key = super.addBodyHash(...of)
    const hash = this.bodyHashes.get(key)
    // Without a boundary it looks for none.
    if (hash) hash.setContentType = () => undefined
    if (hash instanceof RelaxedHash) hashRelaxedLines(hash)
    return key
  }

  override getStatusHeader(): object {
    return {}
  }

  override baseResult({ signingDomain, selector, parsed }: SignatureHeader): object {
    return { signingDomain, selector, algo: parsed?.a?.value }
  }
}
