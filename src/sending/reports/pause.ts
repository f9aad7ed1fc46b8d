import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findBrand } from '../../accounts/brands/brands.ts'
import { toJsonBrand } from '../../accounts/brands/schema.ts'
import type { BrandRow } from '../../accounts/brands/table.ts'
import { type Clock, hourMs, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { appendEvents } from '../../events/append-events.ts'
import {
  type BrandSendCounts,
  countBouncesAndComplaints,
  countSent,
  pauseBrand,
  resumeBrand,
  selectBrandIds,
  selectPausedBrands,
} from './pause-table.ts'

/** Above these a brand is paused. */
export interface PauseLimits {
  /** In percent of what was sent; 0: never. */
  readonly bouncePercent: number
  readonly complaintPercent: number
  /** With fewer emails no brand is paused. */
  readonly minSent: number
  /** Over how long emails are counted, in milliseconds. */
  readonly windowMs: number
}

export interface PauseDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly limits: PauseLimits
}

const brandsPerBatch = 100

const paused = gauge('mailroom_brands_paused', 'Brands whose sending is paused.')

/** Pauses each brand whose bounces or complaints are above the limits; gives the ids of those it paused. */
export async function pauseBrandsOverLimits(deps: PauseDeps, signal?: AbortSignal): Promise<readonly Id<'brd'>[]> {
  const { db, limits } = deps
  const pausedIds: Id<'brd'>[] = []
  if (limits.bouncePercent > 0 || limits.complaintPercent > 0)
    for (let after = ''; !signal?.aborted; ) {
      const ids = await selectBrandIds(db, after, brandsPerBatch)
      const last = ids.at(-1)
      if (last === undefined) break
      pausedIds.push(...(await pauseBatch(deps, ids)))
      after = last
    }
  paused.set((await selectPausedBrands(db)).length)
  return pausedIds
}

async function pauseBatch({ db, clock, log, limits }: PauseDeps, ids: readonly Id<'brd'>[]): Promise<Id<'brd'>[]> {
  const at = clock.now()
  const pausedIds: Id<'brd'>[] = []
  for (const { brandId, since, ...bounces } of await countBouncesAndComplaints(db, ids, plusMs(at, -limits.windowMs))) {
    const counts = { ...bounces, sent: await countSent(db, brandId, since) }
    const reason = pauseReason(counts, limits)
    if (reason === undefined || !(await pause(db, brandId, reason, at))) continue
    pausedIds.push(brandId)
    log.error(
      { brand_id: brandId, ...counts },
      'paused the sending of a brand: too many bounces or complaints; its emails wait until the operator resumes it',
    )
  }
  return pausedIds
}

/** Pauses a brand; false: it is paused already. */
function pause(db: Db, id: Id<'brd'>, reason: string, at: Instant): Promise<boolean> {
  return inTransaction(db, async tx => {
    if (!(await pauseBrand(tx, id, reason, at))) return false
    const brand = await findBrand(tx, id)
    if (brand) await appendBrandEvent(tx, 'brand.paused', brand, reason, at)
    return true
  })
}

async function appendBrandEvent(
  tx: Db,
  type: 'brand.paused' | 'brand.resumed',
  brand: BrandRow,
  reason: string | null,
  at: Instant,
): Promise<void> {
  const data = { ...toJsonBrand(brand), reason }
  await appendEvents(tx, [{ type, organizationId: brand.organization_id, brandId: brand.id, occurredAt: at, data }])
}

/** Why a brand is to be paused, in a sentence; undefined: it is not. Pure. */
export function pauseReason({ sent, bounced, complained }: BrandSendCounts, limits: PauseLimits): string | undefined {
  if (sent < limits.minSent || sent === 0) return undefined
  const hours = limits.windowMs / hourMs
  const sentence = (count: number, what: string, most: number) =>
    `${count} of ${sent} emails of at most ${hours} hours ${what}, ${percent(count, sent)}; at most ${most} % may.`
  if (isAbove(bounced, sent, limits.bouncePercent)) return sentence(bounced, 'bounced', limits.bouncePercent)
  if (isAbove(complained, sent, limits.complaintPercent))
    return sentence(complained, 'were complained of', limits.complaintPercent)
  return undefined
}

function isAbove(count: number, of: number, limitPercent: number): boolean {
  return limitPercent > 0 && count * 100 > limitPercent * of
}

function percent(count: number, of: number): string {
  return `${((count * 100) / of).toFixed(2)} %`
}

/** Lets a paused brand send again, for an operator. False: it was not paused; undefined: there is no such brand. */
export async function resumeBrandByOperator(db: Db, operator: Operator, id: Id<'brd'>): Promise<boolean | undefined> {
  return await inTransaction(db, async tx => {
    const brand = await findBrand(tx, id)
    if (!brand) return undefined
    const at = operator.clock.now()
    if (!(await resumeBrand(tx, id, at))) return false
    await recordAuditEntry(tx, operator, { action: 'brand.resume', subject: id })
    await appendBrandEvent(tx, 'brand.resumed', brand, null, at)
    return true
  })
}
