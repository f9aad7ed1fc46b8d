import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { type Instant, instantAt, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { selectOrderedCertificates, updateOrderDue } from '../../ports/certificates/acme/due-table.ts'
import { readChain } from '../../ports/certificates/pem.ts'
import type { Certificate } from '../../ports/certificates/port.ts'

/** A certificate as operators see it. */
export interface ShownCertificate {
  readonly name: string
  /** The host names that it covers; empty: none was issued yet. */
  readonly names: readonly string[]
  /** `acme`: Mailroom orders and renews it; `file`: an operator does. */
  readonly source: 'acme' | 'file'
  /** The distinguished name of its issuer, on one line. */
  readonly issuer: string | null
  /** ISO 8601. */
  readonly not_before: string | null
  readonly not_after: string | null
  /** When the next one is ordered; null: Mailroom does not order it. */
  readonly renews_at: string | null
  readonly is_ordering: boolean
  readonly failures: number
  readonly last_error: string | null
}

const maxShown = 200

/** The certificates that an ACME authority has issued or is to issue, by name. */
export async function listOrderedCertificates(db: Db): Promise<readonly ShownCertificate[]> {
  const rows = await selectOrderedCertificates(db, maxShown)
  const time = (at: Instant | null) => at && toIso(at)
  return rows.map(row => ({
    name: row.name,
    ...(row.chain === null ? { names: [], issuer: null } : describeChain(row.chain, row.name)),
    source: 'acme',
    not_before: time(row.not_before),
    not_after: time(row.not_after),
    renews_at: toIso(row.next_attempt_at),
    is_ordering: row.lease !== null,
    failures: row.failures,
    last_error: row.last_error,
  }))
}

/** A certificate from files. */
export function describeFileCertificate({ names, chain, notBefore, notAfter }: Certificate): ShownCertificate {
  const time = (date: Date) => toIso(instantAt(date.getTime() * 1000))
  const name = names[0] ?? ''
  return {
    ...{ name, source: 'file', ...describeChain(chain, name), names },
    ...{ not_before: time(notBefore), not_after: time(notAfter) },
    ...{ renews_at: null, is_ordering: false, failures: 0, last_error: null },
  }
}

function describeChain(
  chain: string,
  name: string,
): { readonly names: readonly string[]; readonly issuer: string | null } {
  const [first] = readChain(chain)
  return { names: [name], issuer: first?.issuer.split('\n').join(', ') ?? null }
}

/**
 * Makes the order of a new certificate due now, for an operator: a process with the role smtp or http orders it within
 * seconds. False: Mailroom orders none for this name, or is doing it now.
 */
export function renewCertificate(db: Db, operator: Operator, name: string): Promise<boolean> {
  return inTransaction(db, async tx => {
    const isDue = await updateOrderDue(tx, name, operator.clock.now())
    if (isDue) await recordAuditEntry(tx, operator, { action: 'certificate.renew', subject: name })
    return isDue
  })
}
