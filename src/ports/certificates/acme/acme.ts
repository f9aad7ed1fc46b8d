import { dayMs, type Instant, minuteMs, plusMs } from '../../../base/clock.ts'
import { startJob } from '../../../base/concurrency/background-job.ts'
import { limitConcurrency } from '../../../base/concurrency/semaphore.ts'
import { createCertificateStore } from '../certificate-store.ts'
import { readCertificate } from '../pem.ts'
import type { Certificate, CertificateState, Certificates } from '../port.ts'
import { isDue, type OrderDeps, orderCertificate } from './orders.ts'
import { certificateKeyContext } from './sealing.ts'
import {
  type CertificateRow,
  deleteChallengesBefore,
  deleteExpiredCertificates,
  insertPendingCertificates,
  selectCertificates,
  selectIssuedCertificate,
  updateNextAttempt,
} from './table.ts'

/** A name that should have a certificate. */
export interface CertificateName {
  readonly name: string
  readonly isOurs: boolean
}

export interface AcmeDeps extends OrderDeps {
  /** The names, in the order in which they are shown. Each gets a certificate of its own, so that no name fails with another. */
  readonly listNames: () => Promise<readonly CertificateName[]>
  /** Does DNS have an address for the name? Asked for names of domains only, whose owners publish them when they like. */
  readonly hasAddress: (name: string) => Promise<boolean>
  /** {@link acmeIntervalMs} unless given. */
  readonly intervalMs?: number
}

/** How often the names and the issued certificates are read again, in milliseconds. */
export const acmeIntervalMs = 5000
const addressRetryMs = 10 * minuteMs
const maxChallengeAgeMs = dayMs
const expiredRetentionMs = 90 * dayMs

/**
 * Certificates from an ACME authority (RFC 8555), stored in the database. Every process presents them, answers their
 * challenges and orders those that are due; one process at a time orders for a name.
 */
export function acmeCertificates(deps: AcmeDeps): Certificates {
  const { db, clock, log, secrets } = deps
  const store = createCertificateStore([])
  const loaded = new Map<string, { readonly fingerprint: string; readonly certificate: Certificate }>()
  let states: readonly CertificateState[] = []
  let rows: readonly CertificateRow[] = []
  let requested: readonly CertificateName[] = []

  const oneAtATime = limitConcurrency(1)
  const load = () => oneAtATime(loadAll)

  async function loadAll(): Promise<void> {
    requested = await deps.listNames()
    const names = requested.map(({ name }) => name)
    rows = await selectCertificates(db, names)
    const known = new Map(rows.map(row => [row.name, row]))
    const missing = names.filter(name => !known.has(name))
    if (missing.length > 0) {
      await insertPendingCertificates(db, missing, clock.now())
      rows = await selectCertificates(db, names)
    }
    let isChanged = false
    for (const row of rows) if (await loadIssued(row)) isChanged = true
    for (const name of loaded.keys()) if (!names.includes(name)) isChanged = loaded.delete(name)
    states = requested.map(certificate => stateOf(certificate, known.get(certificate.name)))
    if (isChanged) store.replace(names.flatMap(name => loaded.get(name)?.certificate ?? []))
  }

  /** Loads the certificate that was issued for a name, unless it is loaded already. Was it? */
  async function loadIssued({ name, fingerprint }: CertificateRow): Promise<boolean> {
    if (fingerprint === null || loaded.get(name)?.fingerprint === fingerprint) return false
    const issued = await selectIssuedCertificate(db, name)
    if (!issued) return false
    try {
      const certificate = readCertificate(issued.chain, secrets.open(issued.sealedKey, certificateKeyContext(name)))
      loaded.set(name, { fingerprint, certificate })
      return true
    } catch (error) {
      // The other names must not wait for this one.
      log.error(
        { name, err: error },
        'could not open the private key of a certificate; the previous certificate stays in use',
      )
      return false
    }
  }

  function stateOf({ name, isOurs }: CertificateName, row: CertificateRow | undefined): CertificateState {
    const notAfter = loaded.get(name)?.certificate.notAfter ?? null
    return { name, isOurs, notAfter, lastError: row?.last_error ?? null }
  }

  async function order(signal: AbortSignal): Promise<'more' | 'done'> {
    await deleteOld(clock.now())
    await load()
    for (const row of rows.filter(candidate => isDue(candidate, clock.now()))) {
      if (signal.aborted) return 'done'
      if (await waitsForAddress(row)) continue
      if (await orderCertificate(deps, row, signal)) await load()
    }
    return 'done'
  }

  /** Postpones an order that would fail, since authorities limit failed ones. Did it? */
  async function waitsForAddress(row: CertificateRow): Promise<boolean> {
    const isOurs = requested.find(({ name }) => name === row.name)?.isOurs ?? true
    if (isOurs || (await deps.hasAddress(row.name))) return false
    await updateNextAttempt(db, row.name, plusMs(clock.now(), addressRetryMs), 'DNS has no address for it yet')
    return true
  }

  async function deleteOld(now: Instant): Promise<void> {
    await deleteChallengesBefore(db, plusMs(now, -maxChallengeAgeMs))
    await deleteExpiredCertificates(db, plusMs(now, -expiredRetentionMs))
  }

  const intervalMs = deps.intervalMs ?? acmeIntervalMs
  const round = async () => {
    await load()
    return 'done' as const
  }
  const loading = startJob({ name: 'acme-load', intervalMs, log }, round)
  const ordering = startJob({ name: 'acme-order', intervalMs, log }, order)
  return {
    current: () => store.current,
    states: () => states,
    onChange: store.onChange,
    stop: async () => {
      await Promise.all([ordering.stop(), loading.stop()])
    },
  }
}
