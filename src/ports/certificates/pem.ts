import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Certificate } from './port.ts'

/** The texts are not a certificate and its key; the message says why, for an operator. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

const certificateForm = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const maxCertificates = 10

/**
 * Reads a chain and a private key, both PEM. The chain is returned unchanged, so that clients get all of it.
 * @throws CertificateError when they do not belong together, or the certificate names no host
 */
export function readCertificate(chain: string, privateKey: string): Certificate {
  const [first] = readChain(chain)
  if (!first) throw new CertificateError('there is no certificate in it')
  if (!first.checkPrivateKey(readKey(privateKey)))
    throw new CertificateError('the private key is not that of the certificate')
  const names = namesOf(first)
  if (names.length === 0) throw new CertificateError('the certificate names no host')
  return { names, chain, privateKey, notBefore: new Date(first.validFrom), notAfter: new Date(first.validTo) }
}

/** The certificates in a text, each in PEM; their content is not checked. */
export function splitCertificates(text: string): readonly string[] {
  return text.match(certificateForm) ?? []
}

/** @throws CertificateError */
export function readChain(chain: string): readonly X509Certificate[] {
  const texts = splitCertificates(chain)
  if (texts.length > maxCertificates) throw new CertificateError(`the chain has more than ${maxCertificates} parts`)
  try {
    return texts.map(text => new X509Certificate(text))
  } catch {
    throw new CertificateError('the certificate cannot be read')
  }
}

function readKey(privateKey: string) {
  try {
    return createPrivateKey(privateKey)
  } catch {
    throw new CertificateError('the private key cannot be read')
  }
}

/** The host names in the subject alternative names; of a certificate without any, the common name. */
function namesOf({ subjectAltName, subject }: X509Certificate): readonly string[] {
  const alternatives =
    subjectAltName?.split(', ') ??
    [...subject.matchAll(/^CN=(.+)$/gm)].map(regExpExecArray => `DNS:${regExpExecArray[1]}`)
  return alternatives
    .filter(alternative => alternative.startsWith('DNS:'))
    .map(alternative => alternative.slice(4).toLowerCase())
}
