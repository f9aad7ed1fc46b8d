import { holdCertificates } from '../../src/ports/certificates/certificate-store.ts'
import { readCertificate } from '../../src/ports/certificates/pem.ts'
import type { Certificates } from '../../src/ports/certificates/port.ts'
import type { TestPair } from './certificates.ts'

/** Certificates that a test changes when it likes. */
export function testCertificates(
  ...first: readonly TestPair[]
): Certificates & { replace(...pairs: readonly TestPair[]): void } {
  const read = (pairs: readonly TestPair[]) => pairs.map(({ chain, key }) => readCertificate(chain, key))
  const held = holdCertificates(read(first))
  return {
    current: () => held.current,
    states: () => [],
    onChange: held.onChange,
    stop: async () => undefined,
    replace: (...pairs) => held.replace(read(pairs)),
  }
}
