import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { lockAcceptedCounts, selectAcceptedCounts, upsertAcceptedCounts } from './quota-table.ts'

/** An organization's plan, which sets its monthly quota. */
export type Plan = 'free' | 'paid' | 'unlimited'

/** Emails that a plan includes in a calendar month (UTC); null: unlimited. */
export const includedEmails: Readonly<Record<Plan, number | null>> = { free: 3000, paid: 50_000, unlimited: null }

/** Each month's count is spread over this many rows, so that concurrent sends rarely wait for the same row lock. */
const slots = 32

/** A number of emails to count against one organization's quota. */
export interface QuotaRequest {
  readonly organizationId: Id<'org'>
  readonly plan: Plan
  readonly count: number
}

/**
 * Counts emails against their organizations' quotas, in the transaction that accepts them and as late in it as possible.
 * Resolves to one boolean per request, in order: false, and nothing counted, where the plan `free` would exceed what it
 * includes. `paid` may exceed it (overage).
 */
export async function consumeQuota(
  db: Db,
  requests: readonly QuotaRequest[],
  at: Instant,
): Promise<readonly boolean[]> {
  const month = monthOf(at)
  const limited = distinctOrganizationIds(requests.filter(request => request.plan === 'free'))
  const remaining = await remainingQuotas(db, limited, month)
  const granted = requests.map(({ organizationId, count }) => {
    const available = remaining.get(organizationId)
    if (available === undefined) return true
    if (available < count) return false
    remaining.set(organizationId, available - count)
    return true
  })
  const counted = new Map<Id<'org'>, number>()
  requests.forEach(({ organizationId, count }, i) => {
    if (granted[i]) counted.set(organizationId, (counted.get(organizationId) ?? 0) + count)
  })
  await upsertAcceptedCounts(
    db,
    [...counted].map(([organizationId, accepted]) => ({
      organization_id: organizationId,
      month,
      slot: remaining.has(organizationId) ? 0 : Math.floor(Math.random() * slots),
      accepted,
    })),
  )
  return granted
}

/** What is left of each quota this month. Exact: the row lock on slot 0 makes concurrent requests wait for each other. */
async function remainingQuotas(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  month: string,
): Promise<Map<Id<'org'>, number>> {
  if (organizationIds.length === 0) return new Map()
  await lockAcceptedCounts(db, organizationIds, month)
  const accepted = await selectAcceptedCounts(db, organizationIds, month)
  return new Map(organizationIds.map(id => [id, (includedEmails.free ?? 0) - (accepted.get(id) ?? 0)]))
}

/** Sorted, so that all transactions lock in the same order and cannot deadlock. */
function distinctOrganizationIds(requests: readonly QuotaRequest[]): readonly Id<'org'>[] {
  return [...new Set(requests.map(request => request.organizationId))].sort()
}

/** Emails accepted in the month of `at`. */
export async function acceptedInMonth(db: Db, organizationId: Id<'org'>, at: Instant): Promise<number> {
  return (await selectAcceptedCounts(db, [organizationId], monthOf(at))).get(organizationId) ?? 0
}

/** An organization's usage in a month, against its plan. */
export interface Usage {
  /** `YYYY-MM`, UTC. */
  readonly month: string
  readonly used: number
  /** null: unlimited. */
  readonly included: number | null
  /** Emails beyond what is included. */
  readonly overage: number
}

/** An organization's usage in the month of `at`. */
export async function getUsage(
  db: Db,
  { id, plan }: { readonly id: Id<'org'>; readonly plan: Plan },
  at: Instant,
): Promise<Usage> {
  return toUsage(plan, await acceptedInMonth(db, id, at), at)
}

/** The usage that `used` emails in the month of `at` are on `plan`. */
export function toUsage(plan: Plan, used: number, at: Instant): Usage {
  const included = includedEmails[plan]
  return { month: monthOf(at), used, included, overage: included === null ? 0 : Math.max(0, used - included) }
}

/** The calendar month, UTC, as `YYYY-MM`. */
export function monthOf(at: Instant): string {
  return at.slice(0, 7)
}
