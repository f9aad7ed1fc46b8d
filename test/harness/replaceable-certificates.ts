import { createCertificateStore } from '../../src/ports/certificates/certificate-store.ts'
import { readCertificate } from '../../src/ports/certificates/pem.ts'
import type { Certificates } from '../../src/ports/certificates/port.ts'
import type { CertificatePair } from './certificates.ts'

/** Certificates that a test changes when it likes. */
export function replaceableCertificates(
  ...first: readonly CertificatePair[]
): Certificates & { replace(...pairs: readonly CertificatePair[]): void } {
  const read = (pairs: readonly CertificatePair[]) => pairs.map(({ chain, key }) => readCertificate(chain, key))
  const held = createCertificateStore(read(first))
  return {
    current: () => held.current,
    states: () => [],
    onChange: held.onChange,
    stop: async () => undefined,
    replace: (...pairs) => held.replace(read(pairs)),
  }
}
