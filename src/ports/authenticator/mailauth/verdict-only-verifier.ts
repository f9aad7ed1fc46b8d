import { RelaxedHash } from 'mailauth/lib/dkim/body/relaxed.js'
import { DkimVerifier, type SignatureHeader } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { ParsedHeaders } from 'mailauth/lib/tools.js'
import { hashRelaxedLines } from './relaxed-body.ts'

/**
 * mailauth's verifier without what it makes for others: an Authentication-Results field, an id and the alignment of each
 * signature, and where the MIME structure starts, for which it reads the body byte by byte. What it finds of a signature is the
 * same.
 */
export class VerdictOnlyVerifier extends DkimVerifier {
  /** Without Content-Type it looks for no MIME boundary; what is signed is in all of the fields. */
  override async messageHeaders(headers: ParsedHeaders): Promise<void> {
    const parsed = headers.parsed.filter(field => field.key !== 'content-type')
    await super.messageHeaders({ ...headers, parsed })
    this.headers = headers
  }

  /** Without From it does not align its results, for which it would search the Public Suffix List. */
  override async finalChunk(): Promise<void> {
    const { headerFrom } = this
    this.headerFrom = []
    try {
      await super.finalChunk()
    } finally {
      this.headerFrom = headerFrom
    }
  }

  override addBodyHash(...of: Parameters<DkimVerifier['addBodyHash']>): string {
    const key = super.addBodyHash(...of)
    const hash = this.bodyHashes.get(key)
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
