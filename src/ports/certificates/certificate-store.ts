import type { Certificate } from './port.ts'

/** The current certificates of a source, and the listeners to their changes. */
export interface CertificateStore {
  readonly current: readonly Certificate[]
  replace(certificates: readonly Certificate[]): void
  onChange(listener: () => void): void
}

export function createCertificateStore(first: readonly Certificate[]): CertificateStore {
  const listeners: (() => void)[] = []
  let current = first
  return {
    get current() {
      return current
    },
    replace(certificates) {
      current = certificates
      for (const listener of listeners) listener()
    },
    onChange: listener => void listeners.push(listener),
  }
}
