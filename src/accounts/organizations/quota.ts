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
 * Which of these emails their organizations' quotas allow, in the transaction that accepts them: one boolean per request, in
 * order; false where the plan `free` would exceed what it includes. `paid` may exceed it (overage). What is accepted is to be
 * counted in the same transaction ({@link countAccepted}).
 */
export async function grantQuota(db: Db, requests: readonly QuotaRequest[], at: Instant): Promise<readonly boolean[]> {
  const remaining = await remainingQuotas(db, distinctOrganizationIds(requests.filter(isLimited)), monthOf(at))
  return requests.map(({ organizationId, count }) => {
    const available = remaining.get(organizationId)
    if (available === undefined) return true
    if (available < count) return false
    remaining.set(organizationId, available - count)
    return true
  })
}

/** Counts accepted emails against their organizations' quotas, in the transaction that accepts them and as late in it as possible. */
export async function countAccepted(db: Db, requests: readonly QuotaRequest[], at: Instant): Promise<void> {
  const counted = Map.groupBy(requests, request => request.organizationId)
  await upsertAcceptedCounts(
    db,
    Array.from(counted, ([organizationId, ofOrganization]) => ({
      organization_id: organizationId,
      month: monthOf(at),
      slot: ofOrganization.some(isLimited) ? 0 : Math.floor(Math.random() * slots),
      accepted: ofOrganization.reduce((sum, { count }) => sum + count, 0),
    })),
  )
}

function isLimited({ plan }: QuotaRequest): boolean {
  return plan === 'free'
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
