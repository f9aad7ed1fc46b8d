import { createHash } from 'node:crypto'
import { type Clock, type Instant, instantAt, millisecondsOf, minuteMs, plusMs } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { newSortableToken } from '../../../base/ids.ts'
import type { Log } from '../../../base/observability/log.ts'
import { counter } from '../../../base/observability/metrics.ts'
import type { Secrets } from '../../../base/secrets/secrets.ts'
import { CertificateError, readCertificate, readChain } from '../pem.ts'
import { covers } from '../port.ts'
import {
  type CertificateAuthority,
  CertificateAuthorityError,
  type ChallengeStore,
  type IssuedCertificate,
} from './authority.ts'
import { renewalTime, retryDelayMs } from './renewal.ts'
import { accountKeyContext, certificateKeyContext } from './sealing.ts'
import {
  type CertificateRow,
  claimOrder,
  deleteChallenge,
  insertAccountKey,
  insertChallenge,
  type SealedCertificate,
  selectAccountKey,
  updateFailedOrder,
  updateIssuedCertificate,
} from './table.ts'

export interface OrderDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly secrets: Secrets
  readonly authority: CertificateAuthority
}

/** How long one order may take. The lease is longer, so that two processes never order for one name at once. */
const orderTimeoutMs = 4 * minuteMs
const leaseMs = 5 * minuteMs

const orders = counter('mailroom_certificate_orders_total', 'Certificate orders at the ACME authority, by result.', [
  'result',
])

/**
 * Orders a certificate for a name that is due, unless another process does. Did it order? `signal` aborts the order, which is
 * then due again at once.
 */
export async function orderCertificate(deps: OrderDeps, due: CertificateRow, signal: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const now = clock.now()
  const claim = { name: due.name, lease: newSortableToken() }
  if (!(await claimOrder(db, { ...claim, now, until: plusMs(now, leaseMs) }))) return false
  try {
    const issued = await withTimeout(issue(deps, due.name), signal)
    await settle(deps, claim, issued)
  } catch (error) {
    if (signal.aborted)
      await updateFailedOrder(db, claim, { why: due.last_error, failures: due.failures, againAt: clock.now() })
    else await settleFailure(deps, claim, due.failures + 1, error)
  }
  return true
}

function withTimeout<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(orderTimeoutMs)])
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      const end = () => reject(new Error(`no certificate within ${orderTimeoutMs / minuteMs} minutes`))
      if (either.aborted) end()
      else either.addEventListener('abort', end, { once: true })
    }),
  ])
}

async function issue({ db, clock, secrets, authority }: OrderDeps, name: string): Promise<IssuedCertificate> {
  const challenges: ChallengeStore = {
    put: (token, keyAuthorization) => insertChallenge(db, token, keyAuthorization, clock.now()),
    remove: token => deleteChallenge(db, token),
  }
  const account = await loadAccountKey(db, clock, secrets, authority)
  return authority.issue(name, account, challenges)
}

/** The account key, which all processes share; created with the first order. */
async function loadAccountKey(
  db: Db,
  clock: Clock,
  secrets: Secrets,
  authority: CertificateAuthority,
): Promise<string> {
  const { directory } = authority
  const context = accountKeyContext(directory)
  const known = await selectAccountKey(db, directory)
  if (known) return secrets.open(known, context)
  await insertAccountKey(db, directory, secrets.seal(await authority.newAccountKey(), context), clock.now())
  const stored = await selectAccountKey(db, directory)
  if (!stored) throw new Error('the ACME account key could not be stored')
  return secrets.open(stored, context)
}

type OrderClaim = { readonly name: string; readonly lease: string }

async function settle(deps: OrderDeps, claim: OrderClaim, { chain, privateKey }: IssuedCertificate): Promise<void> {
  const certificate = readCertificate(chain, privateKey)
  if (!covers(certificate, claim.name))
    throw new CertificateError(`the authority issued a certificate for ${certificate.names[0]}`)
  const issued: SealedCertificate = {
    fingerprint: fingerprintOf(chain),
    chain,
    sealedKey: deps.secrets.seal(privateKey, certificateKeyContext(claim.name)),
    notBefore: instantOf(certificate.notBefore),
    notAfter: instantOf(certificate.notAfter),
  }
  if (!(await updateIssuedCertificate(deps.db, claim, issued, instantOf(renewalTime(certificate, Math.random())))))
    return
  orders.inc({ result: 'issued' })
  deps.log.info({ name: claim.name, not_after: certificate.notAfter }, 'TLS certificate issued')
}

async function settleFailure(deps: OrderDeps, claim: OrderClaim, failures: number, error: unknown): Promise<void> {
  const why = (error as Error).message
  const waitMs = error instanceof CertificateAuthorityError ? error.waitMs : 0
  const againAt = plusMs(deps.clock.now(), retryDelayMs(failures, Math.random(), waitMs))
  await updateFailedOrder(deps.db, claim, { why, failures, againAt })
  orders.inc({ result: 'failed' })
  deps.log.warn(
    { name: claim.name, reason: why, failures, again_at: againAt },
    'could not get a TLS certificate; it will be ordered again',
  )
}

function fingerprintOf(chain: string): string {
  const [first] = readChain(chain)
  return createHash('sha256')
    .update(first?.raw ?? chain)
    .digest('hex')
}

function instantOf(date: Date): Instant {
  return instantAt(date.getTime() * 1000)
}

/** Is an order for this name due? */
export function isDue({ next_attempt_at }: Pick<CertificateRow, 'next_attempt_at'>, now: Instant): boolean {
  return millisecondsOf(next_attempt_at) <= millisecondsOf(now)
}
