import { minuteMs, plusMs } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { Refusal } from '../../base/refusal.ts'
import { applyCheckResults, checkSenderRecords } from '../check.ts'
import type { DomainDeps } from '../deps.ts'
import { activateNextKey, deleteRetiredKeys, publishNextKey, startRotationIfDue } from '../dkim/rotation.ts'
import { loadDomainView } from '../domain-view.ts'
import { checkOwnership, storeOwnership } from '../ownership.ts'
import { recheckClaim } from '../receiving-claim.ts'
import type { DomainJson } from '../schema.ts'
import { type DomainRow, selectDomain } from '../table.ts'
import { moveToCurrentProvider } from './provider-switch.ts'
import { type DueDomain, leaseDueDomains, updateNextCheck } from './table.ts'

export interface RecheckDeps extends DomainDeps {
  readonly log: Log
  /** The longest wait between two rechecks, reached while nothing changes, in milliseconds. */
  readonly longestWaitMs: number
  /** The age at which a DKIM key is rotated, in days; 0: never. */
  readonly rotateDays: number
}

const maxPerBatch = 8
/** How long a recheck may take before another process may lease the domain. */
const leaseMs = 5 * minuteMs
const firstWaitMs = 60_000

const rechecksTotal = counter('mailroom_domain_rechecks_total', 'Scheduled rechecks of domains.', ['outcome'])

/** A round of the job `domain-recheck`: checks the domains that are due. Any number of processes share the work. */
export async function recheckRound(deps: RecheckDeps, signal: AbortSignal): Promise<'more' | 'done'> {
  return (await recheckDueDomains(deps, signal)) === maxPerBatch ? 'more' : 'done'
}

/** Rechecks one batch of domains that are due; resolves to its size. */
export async function recheckDueDomains(deps: RecheckDeps, signal?: AbortSignal): Promise<number> {
  const now = deps.clock.now()
  const due = await leaseDueDomains(deps.db, now, { until: plusMs(now, leaseMs), most: maxPerBatch })
  await Promise.all(
    due.map(dueDomain => (signal?.aborted ? releaseLease(deps, dueDomain) : recheckOne(deps, dueDomain))),
  )
  return due.length
}

function releaseLease({ db, clock }: RecheckDeps, domain: DueDomain): Promise<void> {
  return updateNextCheck(db, domain.id, clock.now(), domain.checks_unchanged)
}

/** A failure affects only this domain, which is rechecked when its lease expires. */
async function recheckOne(deps: RecheckDeps, domain: DueDomain): Promise<void> {
  try {
    const outcome = await recheck(deps, domain)
    rechecksTotal.inc({ outcome })
  } catch (error) {
    // The domain was deleted meanwhile.
    if (error instanceof Refusal && error.code === 'not_found') return
    rechecksTotal.inc({ outcome: 'trouble' })
    deps.log.error({ err: error, domain_id: domain.id }, 'could not recheck a domain; trying again in 5 minutes')
  }
}

/** Updates a domain to what DNS shows and schedules the next recheck, sooner if something is changing. */
async function recheck(deps: RecheckDeps, domain: DueDomain): Promise<'changed' | 'unchanged'> {
  const before = await loadDomainView(deps, domain)
  await moveToCurrentProvider(deps, domain)
  await publishNextKey(deps, domain)
  await recheckSending(deps, domain)
  await recheckClaim(deps, domain)
  await activateNextKey(deps, domain)
  await deleteRetiredKeys(deps, domain)
  await startRotationIfDue(deps, domain, deps.rotateDays)
  const after = await loadDomainView(deps, domain)
  logChanges(deps.log, before, after)
  const isChanging = comparableState(before) !== comparableState(after) || (await hasMisses(deps, domain))
  const unchanged = isChanging ? 0 : Math.min(domain.checks_unchanged + 1, 30)
  await updateNextCheck(deps.db, domain.id, plusMs(deps.clock.now(), waitMs(unchanged, deps.longestWaitMs)), unchanged)
  return isChanging ? 'changed' : 'unchanged'
}

async function recheckSending(deps: RecheckDeps, domain: DomainRow): Promise<void> {
  const [ownership, checked] = await Promise.all([
    checkOwnership(deps.resolver, domain.organization_id, domain.domain),
    checkSenderRecords(deps, domain),
  ])
  await storeOwnership(deps, domain, ownership)
  await applyCheckResults(deps, domain, checked, 'scheduled')
}

/** Has something verified been missed that does not count as lost yet? */
async function hasMisses({ db }: RecheckDeps, domain: DomainRow): Promise<boolean> {
  return ((await selectDomain(db, domain.organization_id, domain.id))?.misses ?? 0) > 0
}

function comparableState({ last_checked_at: _, ...facts }: DomainJson): string {
  return JSON.stringify(facts)
}

/** Doubles from one minute, plus or minus a tenth, so that domains created together are not rechecked together. */
function waitMs(unchanged: number, longestMs: number): number {
  return Math.min(firstWaitMs * 2 ** unchanged, longestMs) * (0.9 + Math.random() * 0.2)
}

function logChanges(log: Log, before: DomainJson, after: DomainJson): void {
  const keys = { domain_id: after.id }
  if (before.ready_to_send && !after.ready_to_send)
    log.warn(
      { ...keys, status: after.status },
      'a domain is no longer ready to send: until its records are verified again its sends are refused, and its queued emails wait',
    )
  if (!before.ready_to_send && after.ready_to_send) log.info(keys, 'a domain became ready to send')
  if (before.ownership_verified && !after.ownership_verified)
    log.warn(
      keys,
      'the ownership record of a domain is gone: mail goes on, but operations that need the record are refused',
    )
  if (before.receiving.live && !after.receiving.live)
    log.warn({ ...keys, next_step: after.receiving.next_step }, 'a domain no longer receives mail here')
  if (!before.receiving.live && after.receiving.live) log.info(keys, 'a domain now receives mail here')
}
