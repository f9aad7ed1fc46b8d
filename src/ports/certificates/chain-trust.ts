import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { CertificateError, readChain } from './pem.ts'
import { covers } from './port.ts'

/** The result of validating a chain: invalid, valid up to a root that is not publicly trusted, or valid. */
export type ChainTrust =
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'unknown_root'; readonly issuer: string }
  | { readonly kind: 'valid' }

/**
 * Validates a chain (PEM) as a client that connects to `name` does (RFC 8461 §4.2). An unknown root is a result of its own,
 * since the clients that matter may trust a private authority.
 */
export function checkChain(chain: string, name: string, now: Date): ChainTrust {
  try {
    const [first, ...rest] = readChain(chain)
    if (!first) return invalid('there is none')
    const names = (first.subjectAltName ?? '')
      .split(', ')
      .flatMap(entry => (entry.startsWith('DNS:') ? entry.slice(4) : []))
    if (!covers({ names }, name)) return invalid(`it is for ${names.join(', ') || 'no host'}`)
    if (new Date(first.validTo) <= now) return invalid(`it expired at ${new Date(first.validTo).toISOString()}`)
    if (new Date(first.validFrom) > now)
      return invalid(`it is not valid before ${new Date(first.validFrom).toISOString()}`)
    if (isIssuedBy(first, first)) return invalid('it is self-signed')
    const last = lastOf(first, rest)
    return endsAtPublicRoot(last)
      ? { kind: 'valid' }
      : { kind: 'unknown_root', issuer: last.issuer.replaceAll('\n', ', ') }
  } catch (error) {
    if (error instanceof CertificateError) return invalid(error.message)
    throw error
  }
}

function invalid(why: string): ChainTrust {
  return { kind: 'invalid', why }
}

/** The last certificate of the path from `first`, whatever the order of the others. */
function lastOf(first: X509Certificate, others: readonly X509Certificate[]): X509Certificate {
  const issuer = others.find(certificate => isIssuedBy(first, certificate))
  return issuer
    ? lastOf(
        issuer,
        others.filter(certificate => certificate !== issuer),
      )
    : first
}

/** Is the last certificate of a chain a public root, or issued by one? */
function endsAtPublicRoot(last: X509Certificate): boolean {
  return rootCertificates.some(rootCertificate => {
    const root = new X509Certificate(rootCertificate)
    return root.fingerprint256 === last.fingerprint256 || isIssuedBy(last, root)
  })
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}
