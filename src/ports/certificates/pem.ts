import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Certificate } from './port.ts'

/** These texts are no certificate and its key; the message says why, for an operator. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault'
}

const certificateForm = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const mostCertificates = 10

/**
 * Reads a chain and a private key, both PEM. The chain is given back as it came, so that a client is shown all of it.
 * @throws CertificateFault where they do not belong together, or the certificate names no host
 */
export function readCertificate(chain: string, privateKey: string): Certificate {
  const [first] = readChain(chain)
  if (!first) throw new CertificateFault('there is no certificate in it')
  if (!first.checkPrivateKey(readKey(privateKey)))
    throw new CertificateFault('the private key is not that of the certificate')
  const names = namesOf(first)
  if (names.length === 0) throw new CertificateFault('the certificate names no host')
  return { names, chain, privateKey, notBefore: new Date(first.validFrom), notAfter: new Date(first.validTo) }
}

/** @throws CertificateFault */
export function readChain(chain: string): readonly X509Certificate[] {
  const texts = chain.match(certificateForm) ?? []
  if (texts.length > mostCertificates) throw new CertificateFault(`the chain has more than ${mostCertificates} parts`)
  try {
    return texts.map(each => new X509Certificate(each))
  } catch {
    throw new CertificateFault('the certificate cannot be read')
  }
}

function readKey(privateKey: string) {
  try {
    return createPrivateKey(privateKey)
  } catch {
    throw new CertificateFault('the private key cannot be read')
  }
}

/** The host names of its subject alternative names; where it has none at all, its common name. */
function namesOf({ subjectAltName, subject }: X509Certificate): readonly string[] {
  const alternatives = subjectAltName?.split(', ') ?? [...subject.matchAll(/^CN=(.+)$/gm)].map(each => `DNS:${each[1]}`)
  return alternatives.filter(each => each.startsWith('DNS:')).map(each => each.slice(4).toLowerCase())
}
