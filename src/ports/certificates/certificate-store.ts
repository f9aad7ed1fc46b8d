import type { Certificate } from './port.ts'

/** The certificates of a source, and who is told when they change. */
export interface CertificateStore {
  readonly current: readonly Certificate[]
  replace(certificates: readonly Certificate[]): void
  onChange(tell: () => void): void
}

export function createCertificateStore(first: readonly Certificate[]): CertificateStore {
  const told: (() => void)[] = []
  let current = first
  return {
    get current() {
      return current
    },
    replace(certificates) {
      current = certificates
      for (const tell of told) tell()
    },
    onChange: tell => void told.push(tell),
  }
}
