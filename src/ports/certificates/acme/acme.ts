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

/** A name that a certificate is wanted for. */
export interface CertificateName {
  readonly name: string
  readonly isOurs: boolean
}

export interface AcmeDeps extends OrderDeps {
  /** The names, in the order in which they are shown; each has a certificate of its own, so that none fails with another. */
  readonly listNames: () => Promise<readonly CertificateName[]>
  /** Does DNS have an address for it? Asked of names of domains alone, whose owners publish them when they like. */
  readonly hasAddress: (name: string) => Promise<boolean>
  /** How often the names and what was issued are looked at, in milliseconds. */
  readonly intervalMs?: number
}

/** How often the names and the issued certificates are read again, in milliseconds. */
export const acmeIntervalMs = 5000
const addressPauseMs = 10 * minuteMs
const challengeLifeMs = dayMs
const forgottenAfterMs = 90 * dayMs

/**
 * Certificates that an ACME authority issues, kept in the database: every process shows them, answers for their challenges
 * and orders what is due, one process for a name at a time.
 */
export function acmeCertificates(deps: AcmeDeps): Certificates {
  const { db, clock, log, secrets } = deps
  const held = createCertificateStore([])
  const loaded = new Map<string, { readonly fingerprint: string; readonly certificate: Certificate }>()
  let states: readonly CertificateState[] = []
  let listed: readonly CertificateRow[] = []
  let wanted: readonly CertificateName[] = []

  const oneAtATime = limitConcurrency(1)
  const load = () => oneAtATime(loadNow)

  async function loadNow(): Promise<void> {
    wanted = await deps.listNames()
    const names = wanted.map(certificateName => certificateName.name)
    listed = await selectCertificates(db, names)
    const known = new Map(listed.map(row => [row.name, row]))
    const missing = names.filter(name => !known.has(name))
    if (missing.length > 0) {
      await insertPendingCertificates(db, missing, clock.now())
      listed = await selectCertificates(db, names)
    }
    let isChanged = false
    for (const row of listed) if (await take(row)) isChanged = true
    for (const name of loaded.keys()) if (!names.includes(name)) isChanged = loaded.delete(name)
    states = wanted.map(certificateName => stateOf(certificateName, known.get(certificateName.name)))
    if (isChanged) held.replace(names.flatMap(name => loaded.get(name)?.certificate ?? []))
  }

  /** Takes up what was issued, where it is another one. Is it? */
  async function take({ name, fingerprint }: CertificateRow): Promise<boolean> {
    if (fingerprint === null || loaded.get(name)?.fingerprint === fingerprint) return false
    const issued = await selectIssuedCertificate(db, name)
    if (!issued) return false
    try {
      const certificate = readCertificate(issued.chain, secrets.open(issued.sealedKey, certificateKeyContext(name)))
      loaded.set(name, { fingerprint, certificate })
      return true
    } catch (error) {
      // One that cannot be opened holds none of the others up.
      log.error({ name, err: error }, 'could not open a certificate’s key')
      return false
    }
  }

  function stateOf({ name, isOurs }: CertificateName, row: CertificateRow | undefined): CertificateState {
    const notAfter = loaded.get(name)?.certificate.notAfter ?? null
    return { name, isOurs, notAfter, lastError: row?.last_error ?? null }
  }

  async function order(signal: AbortSignal): Promise<'more' | 'done'> {
    await tidy(clock.now())
    await load()
    for (const each of listed.filter(row => isDue(row, clock.now()))) {
      if (signal.aborted) return 'done'
      if (await waitsForAddress(each)) continue
      if (await orderCertificate(deps, each, signal)) await load()
    }
    return 'done'
  }

  /** An order that must fail is spared the authority, which counts them. */
  async function waitsForAddress(row: CertificateRow): Promise<boolean> {
    const isOurs = wanted.find(certificateName => certificateName.name === row.name)?.isOurs ?? true
    if (isOurs || (await deps.hasAddress(row.name))) return false
    await updateNextAttempt(db, row.name, plusMs(clock.now(), addressPauseMs), 'DNS has no address for it yet')
    return true
  }

  async function tidy(now: Instant): Promise<void> {
    await deleteChallengesBefore(db, plusMs(now, -challengeLifeMs))
    await deleteExpiredCertificates(db, plusMs(now, -forgottenAfterMs))
  }

  const intervalMs = deps.intervalMs ?? acmeIntervalMs
  const round = async () => {
    await load()
    return 'done' as const
  }
  const loading = startJob({ name: 'acme-load', intervalMs, log }, round)
  const ordering = startJob({ name: 'acme-order', intervalMs, log }, order)
  return {
    current: () => held.current,
    states: () => states,
    onChange: held.onChange,
    stop: async () => {
      await Promise.all([ordering.stop(), loading.stop()])
    },
  }
}
