import { minuteMs, plusMs } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { Refusal } from '../../base/refusal.ts'
import { applyCheckResults, checkSenderRecords } from '../check.ts'
import type { DomainDeps } from '../deps.ts'
import { activateNextKey, deleteRetiredKeys, publishNextKey, startRotationIfDue } from '../dkim/rotation.ts'
import { loadDomainView } from '../domain-view.ts'
import { checkOwnership } from '../ownership.ts'
import { recheckClaim } from '../receiving-claim.ts'
import type { DomainJson } from '../schema.ts'
import { type DomainRow, selectDomain } from '../table.ts'
import { moveToCurrentProvider } from './provider-switch.ts'
import { type DueDomain, leaseDueDomains, updateNextCheck } from './table.ts'

export interface RecheckDeps extends DomainDeps {
  readonly log: Log
  /** The wait between looks at a domain of which nothing changes, in milliseconds. */
  readonly longestWaitMs: number
  /** The age at which a DKIM key is followed by another, in days; 0: never. */
  readonly rotateDays: number
}

const maxAtOnce = 8
/** How long one look may take before another process takes the domain. */
const leaseMs = 5 * minuteMs
const firstWaitMs = 60_000

const rechecks = counter('mailroom_domain_rechecks_total', 'Looks at domains that nobody asked for.', ['outcome'])

/** A round of the job `domain-recheck`: checks the domains that are due. Any number of processes share the work. */
export async function recheckRound(deps: RecheckDeps, signal: AbortSignal): Promise<'more' | 'done'> {
  return (await recheckDueDomains(deps, signal)) === maxAtOnce ? 'more' : 'done'
}

/** Looks at the domains that are due now, a few of them. How many were there? */
export async function recheckDueDomains(deps: RecheckDeps, signal?: AbortSignal): Promise<number> {
  const now = deps.clock.now()
  const due = await leaseDueDomains(deps.db, now, { until: plusMs(now, leaseMs), most: maxAtOnce })
  await Promise.all(due.map(dueDomain => (signal?.aborted ? giveBack(deps, dueDomain) : recheckOne(deps, dueDomain))))
  return due.length
}

function giveBack({ db, clock }: RecheckDeps, domain: DueDomain): Promise<void> {
  return updateNextCheck(db, domain.id, clock.now(), domain.checks_unchanged)
}

/** One domain's trouble holds up no other; it is looked at again when its lease runs out. */
async function recheckOne(deps: RecheckDeps, domain: DueDomain): Promise<void> {
  try {
    const outcome = await recheck(deps, domain)
    rechecks.inc({ outcome })
  } catch (error) {
    // Deleted meanwhile.
    if (error instanceof Refusal && error.code === 'not_found') return
    rechecks.inc({ outcome: 'trouble' })
    deps.log.error({ err: error, domain_id: domain.id }, 'could not look at a domain again')
  }
}

/** Brings a domain up to what DNS says, and plans the next look: sooner where something is changing. */
async function recheck(deps: RecheckDeps, domain: DueDomain): Promise<'changed' | 'unchanged'> {
  const before = await loadDomainView(deps, domain)
  await moveToCurrentProvider(deps, domain)
  await publishNextKey(deps, domain)
  await lookPatiently(deps, domain)
  await recheckClaim(deps, domain)
  await activateNextKey(deps, domain)
  await deleteRetiredKeys(deps, domain)
  await startRotationIfDue(deps, domain, deps.rotateDays)
  const after = await loadDomainView(deps, domain)
  tell(deps.log, before, after)
  const isChanging = facts(before) !== facts(after) || (await isMissing(deps, domain))
  const unchanged = isChanging ? 0 : Math.min(domain.checks_unchanged + 1, 30)
  await updateNextCheck(deps.db, domain.id, plusMs(deps.clock.now(), waitMs(unchanged, deps.longestWaitMs)), unchanged)
  return isChanging ? 'changed' : 'unchanged'
}

async function lookPatiently(deps: RecheckDeps, domain: DomainRow): Promise<void> {
  const [proof, seen] = await Promise.all([
    checkOwnership(deps.resolver, domain.organization_id, domain.domain),
    checkSenderRecords(deps, domain),
  ])
  await applyCheckResults(deps, domain, proof, seen, 'unasked')
}

/** Was something not found, that still counts as verified? */
async function isMissing({ db }: RecheckDeps, domain: DomainRow): Promise<boolean> {
  return ((await selectDomain(db, domain.organization_id, domain.id))?.misses ?? 0) > 0
}

function facts({ last_checked_at: _, ...facts }: DomainJson): string {
  return JSON.stringify(facts)
}

/** Doubles from a minute up, a tenth more or less so that domains made together are not looked at together. */
function waitMs(unchanged: number, longestMs: number): number {
  return Math.min(firstWaitMs * 2 ** unchanged, longestMs) * (0.9 + Math.random() * 0.2)
}

function tell(log: Log, before: DomainJson, after: DomainJson): void {
  const whose = { domain_id: after.id }
  if (before.ready_to_send && !after.ready_to_send)
    log.warn({ ...whose, status: after.status }, 'a domain is no longer ready to send')
  if (!before.ready_to_send && after.ready_to_send) log.info(whose, 'a domain became ready to send')
  if (before.receiving.live && !after.receiving.live)
    log.warn({ ...whose, next_step: after.receiving.next_step }, 'mail for a domain no longer comes here')
  if (!before.receiving.live && after.receiving.live) log.info(whose, 'mail for a domain comes here')
}
