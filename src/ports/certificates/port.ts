/** A certificate that we can show, with its key. */
export interface Certificate {
  /** The host names that it is for, lower case; the first label may be `*`. */
  readonly names: readonly string[]
  /** PEM: the certificate first, then what leads to the root. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/** How it stands with a certificate that is there or should be. */
export interface CertificateState {
  readonly name: string
  /** Is the name one of this instance's, and not of a domain that it serves? */
  readonly isOurs: boolean
  /** null: there is none. */
  readonly notAfter: Date | null
  /** Why there is no newer one, for an operator; null: nothing is wrong. */
  readonly lastError: string | null
}

/**
 * Where certificates come from. The last good one stays until a better one is there: nothing that goes wrong takes it away.
 */
export interface Certificates {
  /** Those to show now; the first is for clients that ask for no name, or for one that none is for. */
  current(): readonly Certificate[]
  states(): readonly CertificateState[]
  /** Calls `tell` after each change of `current`. */
  onChange(tell: () => void): void
  stop(): Promise<void>
}

/** The certificate to show under this name. */
export function certificateFor(certificates: readonly Certificate[], name: string): Certificate | undefined {
  return certificates.find(certificate => covers(certificate, name)) ?? certificates[0]
}

/** Is it for this name? RFC 9525 §6.3: `*` stands for one whole label, the first. */
export function covers({ names }: Pick<Certificate, 'names'>, name: string): boolean {
  const wanted = name.toLowerCase()
  const wildcard = wanted.replace(/^[^.]+/, '*')
  return names.includes(wanted) || names.includes(wildcard)
}
