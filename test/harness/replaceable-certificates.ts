import { createCertificateStore } from '../../src/ports/certificates/certificate-store.ts'
import { readCertificate } from '../../src/ports/certificates/pem.ts'
import type { Certificates } from '../../src/ports/certificates/port.ts'
import type { CertificatePair } from './certificates.ts'

/** Certificates that a test can replace. */
export function replaceableCertificates(
  ...first: readonly CertificatePair[]
): Certificates & { replace(...pairs: readonly CertificatePair[]): void } {
  const read = (pairs: readonly CertificatePair[]) => pairs.map(({ chain, key }) => readCertificate(chain, key))
  const store = createCertificateStore(read(first))
  return {
    current: () => store.current,
    states: () => [],
    onChange: store.onChange,
    stop: async () => undefined,
    replace: (...pairs) => store.replace(read(pairs)),
  }
}
