import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { lockAcceptedCounts, selectAcceptedCounts, upsertAcceptedCounts } from './table.ts'

/** What an organization may send. */
export type Plan = 'free' | 'paid' | 'unlimited'

/** Emails that a plan includes in a calendar month (UTC); null: as many as they like. */
export const includedEmails: Readonly<Record<Plan, number | null>> = { free: 3000, paid: 50_000, unlimited: null }

/** Sends at the same time do not wait for each other's counter, but for one in so many. */
const slots = 32

/** Emails to be counted for one organization. */
export interface QuotaRequest {
  readonly organizationId: Id<'org'>
  readonly plan: Plan
  readonly count: number
}

/**
 * Counts emails as they are accepted, inside the transaction that accepts them, as late in it as can be. One answer for
 * each take, in their order: false, and nothing counted for it, where the plan `free` would go past what it includes.
 * `paid` goes on past it (overage).
 */
export async function consumeQuota(db: Db, takes: readonly QuotaRequest[], at: Instant): Promise<readonly boolean[]> {
  const month = monthOf(at)
  const limited = distinctOrganizationIds(takes.filter(take => take.plan === 'free'))
  const left = await leftOf(db, limited, month)
  const granted = takes.map(({ organizationId, count }) => {
    const rest = left.get(organizationId)
    if (rest === undefined) return true
    if (rest < count) return false
    left.set(organizationId, rest - count)
    return true
  })
  const counted = new Map<Id<'org'>, number>()
  takes.forEach(({ organizationId, count }, i) => {
    if (granted[i]) counted.set(organizationId, (counted.get(organizationId) ?? 0) + count)
  })
  await upsertAcceptedCounts(
    db,
    [...counted].map(([organizationId, accepted]) => ({
      organization_id: organizationId,
      month,
      slot: left.has(organizationId) ? 0 : Math.floor(Math.random() * slots),
      accepted,
    })),
  )
  return granted
}

/** What is left of the month; the first slot's row lock makes those who ask wait for each other, so that it is exact. */
async function leftOf(db: Db, organizationIds: readonly Id<'org'>[], month: string): Promise<Map<Id<'org'>, number>> {
  if (organizationIds.length === 0) return new Map()
  await lockAcceptedCounts(db, organizationIds, month)
  const accepted = await selectAcceptedCounts(db, organizationIds, month)
  return new Map(organizationIds.map(id => [id, (includedEmails.free ?? 0) - (accepted.get(id) ?? 0)]))
}

/** In one order, so that two transactions never wait for each other. */
function distinctOrganizationIds(takes: readonly QuotaRequest[]): readonly Id<'org'>[] {
  return [...new Set(takes.map(take => take.organizationId))].sort()
}

/** Emails accepted in the month of `at`. */
export async function acceptedInMonth(db: Db, organizationId: Id<'org'>, at: Instant): Promise<number> {
  return (await selectAcceptedCounts(db, [organizationId], monthOf(at))).get(organizationId) ?? 0
}

/** What an organization sent in a month, against its plan. */
export interface Usage {
  /** `YYYY-MM`, UTC. */
  readonly month: string
  readonly used: number
  /** null: as many as they like. */
  readonly included: number | null
  /** Used beyond what is included. */
  readonly overage: number
}

/** What an organization on `plan` used of the month of `at`. */
export async function getUsage(
  db: Db,
  { id, plan }: { readonly id: Id<'org'>; readonly plan: Plan },
  at: Instant,
): Promise<Usage> {
  return toUsage(plan, await acceptedInMonth(db, id, at), at)
}

/** What `used` emails in the month of `at` are on `plan`. */
export function toUsage(plan: Plan, used: number, at: Instant): Usage {
  const included = includedEmails[plan]
  return { month: monthOf(at), used, included, overage: included === null ? 0 : Math.max(0, used - included) }
}

/** The calendar month, UTC, as `YYYY-MM`. */
export function monthOf(at: Instant): string {
  return at.slice(0, 7)
}
