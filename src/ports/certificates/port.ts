/** A certificate with its private key. */
export interface Certificate {
  /** The host names that it covers, lower case; the first label may be `*`. */
  readonly names: readonly string[]
  /** PEM: the certificate first, then the intermediate certificates. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/** The state of a certificate that exists or should exist. */
export interface CertificateState {
  readonly name: string
  /** Is it a name of this instance? Else it belongs to a domain that the instance serves. */
  readonly isOurs: boolean
  /** null: there is none. */
  readonly notAfter: Date | null
  /** Why no newer certificate could be had, for an operator; null: nothing is wrong. */
  readonly lastError: string | null
}

/**
 * A source of TLS certificates that keeps them up to date by itself.
 *
 * An adapter
 * - keeps the last valid certificate of a name until it has a better one, whatever goes wrong;
 * - reports in `states` what went wrong, and logs it;
 * - answers from memory: `current` is called for each TLS connection.
 */
export interface Certificates {
  /** The certificates to present now; the first one serves clients without SNI, or with a name that none covers. */
  current(): readonly Certificate[]
  /** One state for each name that should have a certificate. */
  states(): readonly CertificateState[]
  /** Calls `listener` after each change of `current`. */
  onChange(listener: () => void): void
  /** Stops renewing. */
  stop(): Promise<void>
}

/** The certificate to present to a client that asks for `name` (SNI). */
export function certificateFor(certificates: readonly Certificate[], name: string): Certificate | undefined {
  return certificates.find(certificate => covers(certificate, name)) ?? certificates[0]
}

/** Does the certificate cover this name? `*` stands for the whole first label (RFC 9525 §6.3). */
export function covers({ names }: Pick<Certificate, 'names'>, name: string): boolean {
  const lower = name.toLowerCase()
  const wildcard = lower.replace(/^[^.]+/, '*')
  return names.includes(lower) || names.includes(wildcard)
}
