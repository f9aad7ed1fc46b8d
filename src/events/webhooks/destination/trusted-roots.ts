import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { ConfigError } from '../../../base/config/config.ts'
import { CertificateError, splitCertificates } from '../../../ports/certificates/pem.ts'

/**
 * TLS that trusts the roots in a file beside the usual ones. One for a process: reading all roots takes milliseconds.
 * @param file MAILROOM_WEBHOOK_CA
 * @throws ConfigError where the file has no certificate that can be read
 */
export function receiverTls(file: string): SecureContext {
  try {
    return createSecureContext({ ca: [...trustedRoots(readFileSync(file, 'utf8'))] })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`MAILROOM_WEBHOOK_CA is "${file}"; expected a file with root certificates in PEM (${why}).`)
  }
}

/**
 * The roots that the certificate of a receiver may go back to, each in PEM: those that this process trusts anyway, which are
 * the public ones and those in NODE_EXTRA_CA_CERTS, and those in the text `added`.
 * @throws CertificateError
 */
export function trustedRoots(added: string): readonly string[] {
  const roots = splitCertificates(added)
  if (roots.length === 0) throw new CertificateError('there is no certificate in it')
  if (!roots.every(isCertificate)) throw new CertificateError('a certificate in it cannot be read')
  return [...getCACertificates('default'), ...roots]
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
