import { plusMs } from '../../base/clock.ts'
import { type Rounds, startRounds } from '../../base/concurrency/background-job.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { Refusal } from '../../base/refusal.ts'
import { keepFindings, lookAtSender } from '../check.ts'
import type { DomainsUse } from '../deps.ts'
import { beginIfOld, publishNext, retireKeys, switchToNext } from '../dkim/rotation.ts'
import { describeDomain } from '../domain-view.ts'
import { proveOwnership } from '../ownership.ts'
import { followClaim } from '../receiving.ts'
import type { DomainShape } from '../schema.ts'
import { type DomainRow, domainById } from '../table.ts'
import { followSwitch } from './provider-switch.ts'
import { type DueDomain, planCheck, takeDueDomains } from './table.ts'

export interface Rechecking extends DomainsUse {
  readonly log: Log
  /** The wait between looks at a domain of which nothing changes, in milliseconds. */
  readonly longestWaitMs: number
  /** The age at which a DKIM key is followed by another, in days; 0: never. */
  readonly rotateDays: number
}

const pauseMs = 5000
const maxAtOnce = 8
/** How long one look may take before another process takes the domain. */
const leaseMs = 5 * 60_000
const firstWaitMs = 60_000

const rechecks = counter('mailroom_domain_rechecks_total', 'Looks at domains that nobody asked for.', ['outcome'])

/** Looks at every domain again and again, for as long as it runs; any number of processes share the work. */
export function startRechecking(use: Rechecking): Rounds {
  const options = { pauseMs, log: use.log, failure: 'could not look at domains again' }
  return startRounds(options, async signal => ((await recheckDue(use, signal)) === maxAtOnce ? 'more' : 'done'))
}

/** Looks at the domains that are due now, a few of them. How many were there? */
export async function recheckDue(use: Rechecking, signal?: AbortSignal): Promise<number> {
  const now = use.clock.now()
  const due = await takeDueDomains(use.db, now, { until: plusMs(now, leaseMs), most: maxAtOnce })
  await Promise.all(due.map(each => (signal?.aborted ? giveBack(use, each) : recheckOne(use, each))))
  return due.length
}

function giveBack({ db, clock }: Rechecking, domain: DueDomain): Promise<void> {
  return planCheck(db, domain.id, clock.now(), domain.checks_unchanged)
}

/** One domain's trouble holds up no other; it is looked at again when its lease runs out. */
async function recheckOne(use: Rechecking, domain: DueDomain): Promise<void> {
  try {
    const outcome = await recheck(use, domain)
    rechecks.inc({ outcome })
  } catch (error) {
    // Deleted meanwhile.
    if (error instanceof Refusal && error.code === 'not_found') return
    rechecks.inc({ outcome: 'trouble' })
    use.log.error({ err: error, domain_id: domain.id }, 'could not look at a domain again')
  }
}

/** Brings a domain up to what DNS says, and plans the next look: sooner where something is changing. */
async function recheck(use: Rechecking, domain: DueDomain): Promise<'changed' | 'unchanged'> {
  const before = await describeDomain(use, domain)
  await followSwitch(use, domain)
  await publishNext(use, domain)
  await lookPatiently(use, domain)
  await followClaim(use, domain)
  await switchToNext(use, domain)
  await retireKeys(use, domain)
  await beginIfOld(use, domain, use.rotateDays)
  const after = await describeDomain(use, domain)
  tell(use.log, before, after)
  const isChanging = facts(before) !== facts(after) || (await isMissing(use, domain))
  const unchanged = isChanging ? 0 : Math.min(domain.checks_unchanged + 1, 30)
  await planCheck(use.db, domain.id, plusMs(use.clock.now(), waitMs(unchanged, use.longestWaitMs)), unchanged)
  return isChanging ? 'changed' : 'unchanged'
}

async function lookPatiently(use: Rechecking, domain: DomainRow): Promise<void> {
  const [proof, seen] = await Promise.all([
    proveOwnership(use.resolver, domain.organization_id, domain.domain),
    lookAtSender(use, domain),
  ])
  await keepFindings(use, domain, proof, seen, 'unasked')
}

/** Was something not found, that still counts as verified? */
async function isMissing({ db }: Rechecking, domain: DomainRow): Promise<boolean> {
  return ((await domainById(db, domain.organization_id, domain.id))?.misses ?? 0) > 0
}

function facts({ last_checked_at: _, ...facts }: DomainShape): string {
  return JSON.stringify(facts)
}

/** Doubles from a minute up, a tenth more or less so that domains made together are not looked at together. */
function waitMs(unchanged: number, longestMs: number): number {
  return Math.min(firstWaitMs * 2 ** unchanged, longestMs) * (0.9 + Math.random() * 0.2)
}

function tell(log: Log, before: DomainShape, after: DomainShape): void {
  const whose = { domain_id: after.id }
  if (before.ready_to_send && !after.ready_to_send)
    log.warn({ ...whose, status: after.status }, 'a domain is no longer ready to send')
  if (!before.ready_to_send && after.ready_to_send) log.info(whose, 'a domain became ready to send')
  if (before.receiving.live && !after.receiving.live)
    log.warn({ ...whose, next_step: after.receiving.next_step }, 'mail for a domain no longer comes here')
  if (!before.receiving.live && after.receiving.live) log.info(whose, 'mail for a domain comes here')
}
