import { type Instant, plusMs } from '../../base/clock.ts'
import { startRounds } from '../../base/concurrency/background-job.ts'
import { inTurn } from '../../base/concurrency/semaphore.ts'
import { holdCertificates } from './certificate-store.ts'
import { isDue, type OrdersUse, orderCertificate } from './orders.ts'
import { readCertificate } from './pem.ts'
import type { Certificate, CertificateState, Certificates } from './port.ts'
import { certificatePlace } from './sealing.ts'
import {
  dropChallengesBefore,
  forgetExpired,
  issuedFor,
  type Listed,
  listCertificates,
  postpone,
  wantCertificates,
} from './table.ts'

/** A name that a certificate is wanted for. */
export interface WantedName {
  readonly name: string
  readonly isOurs: boolean
}

export interface AcmeUse extends OrdersUse {
  /** The names, in the order in which they are shown; each has a certificate of its own, so that none fails with another. */
  readonly wanted: () => Promise<readonly WantedName[]>
  /** Does DNS have an address for it? Asked of names of domains alone, whose owners publish them when they like. */
  readonly hasAddress: (name: string) => Promise<boolean>
  /** How often the names and what was issued are looked at, in milliseconds. */
  readonly pauseMs?: number
}

const usualPauseMs = 5000
const addressPauseMs = 10 * 60_000
const challengeLifeMs = 86_400_000
const forgottenAfterMs = 90 * 86_400_000

/**
 * Certificates that an ACME authority issues, kept in the database: every process shows them, answers for their challenges
 * and orders what is due, one process for a name at a time.
 */
export function acmeCertificates(use: AcmeUse): Certificates {
  const { db, clock, log, secrets } = use
  const held = holdCertificates([])
  const loaded = new Map<string, { readonly fingerprint: string; readonly certificate: Certificate }>()
  let states: readonly CertificateState[] = []
  let listed: readonly Listed[] = []
  let wanted: readonly WantedName[] = []

  const oneAtATime = inTurn(1)
  const load = () => oneAtATime(loadNow)

  async function loadNow(): Promise<void> {
    wanted = await use.wanted()
    const names = wanted.map(each => each.name)
    listed = await listCertificates(db, names)
    const known = new Map(listed.map(each => [each.name, each]))
    const missing = names.filter(name => !known.has(name))
    if (missing.length > 0) {
      await wantCertificates(db, missing, clock.now())
      listed = await listCertificates(db, names)
    }
    let isChanged = false
    for (const each of listed) if (await take(each)) isChanged = true
    for (const name of loaded.keys()) if (!names.includes(name)) isChanged = loaded.delete(name)
    states = wanted.map(each => stateOf(each, known.get(each.name)))
    if (isChanged) held.replace(names.flatMap(name => loaded.get(name)?.certificate ?? []))
  }

  /** Takes up what was issued, where it is another one. Is it? */
  async function take({ name, fingerprint }: Listed): Promise<boolean> {
    if (fingerprint === null || loaded.get(name)?.fingerprint === fingerprint) return false
    const issued = await issuedFor(db, name)
    if (!issued) return false
    try {
      const certificate = readCertificate(issued.chain, secrets.open(issued.sealedKey, certificatePlace(name)))
      loaded.set(name, { fingerprint, certificate })
      return true
    } catch (error) {
      // One that cannot be opened holds none of the others up.
      log.error({ name, err: error }, 'could not open a certificate’s key')
      return false
    }
  }

  function stateOf({ name, isOurs }: WantedName, row: Listed | undefined): CertificateState {
    const notAfter = loaded.get(name)?.certificate.notAfter ?? null
    return { name, isOurs, notAfter, trouble: row?.last_error ?? null }
  }

  async function order(signal: AbortSignal): Promise<'more' | 'done'> {
    await tidy(clock.now())
    await load()
    for (const each of listed.filter(row => isDue(row, clock.now()))) {
      if (signal.aborted) return 'done'
      if (await waitsForAddress(each)) continue
      if (await orderCertificate(use, each, signal)) await load()
    }
    return 'done'
  }

  /** An order that must fail is spared the authority, which counts them. */
  async function waitsForAddress(row: Listed): Promise<boolean> {
    const isOurs = wanted.find(each => each.name === row.name)?.isOurs ?? true
    if (isOurs || (await use.hasAddress(row.name))) return false
    await postpone(db, row.name, plusMs(clock.now(), addressPauseMs), 'DNS has no address for it yet')
    return true
  }

  async function tidy(now: Instant): Promise<void> {
    await dropChallengesBefore(db, plusMs(now, -challengeLifeMs))
    await forgetExpired(db, plusMs(now, -forgottenAfterMs))
  }

  const pauseMs = use.pauseMs ?? usualPauseMs
  const round = async () => {
    await load()
    return 'done' as const
  }
  const loading = startRounds({ pauseMs, log, failure: 'could not load the certificates' }, round)
  const ordering = startRounds({ pauseMs, log, failure: 'could not order certificates' }, order)
  return {
    current: () => held.current,
    states: () => states,
    onChange: held.onChange,
    stop: async () => {
      await Promise.all([ordering.stop(), loading.stop()])
    },
  }
}
