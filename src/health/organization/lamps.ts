import { findOrganization } from '../../accounts/organizations/organizations.ts'
import { getUsage } from '../../accounts/organizations/quota.ts'
import type { Tenant } from '../../api/tenant.ts'
import { type Clock, dayMs, type Instant, plusMs, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import type { ProviderTraits } from '../../ports/provider/port.ts'
import { type BounceSample, bounceLevel, bouncePercent } from './bounce-rate.ts'
import type { StatusLamp } from './schema.ts'
import {
  boundedCount,
  type CountSince,
  countEmails,
  countQuarantined,
  countSentWithoutReport,
  countUnreadyDomains,
  maxCounted,
  type Span,
  selectBrandPauses,
  selectDisabledWebhooks,
  selectSampleStart,
} from './table.ts'

export interface OrganizationHealthDeps {
  readonly db: Db
  readonly clock: Clock
  /** After how long without a report a `sent` email is unconfirmed, in milliseconds. */
  readonly unconfirmedMs: number
  /** How reports come back from the provider that sends now. */
  readonly reports: ProviderTraits['reports']
}

/** Emails that were accepted longer ago are not looked at: whoever reports on mail at all does so within five days. */
const reportableMs = 7 * dayMs

/** What is wrong in an organization, or in one of its brands: only what needs somebody. Reads a bounded number of rows. */
export async function readLamps(deps: OrganizationHealthDeps, tenant: Tenant): Promise<readonly StatusLamp[]> {
  const now = deps.clock.now()
  const lamps = await Promise.all([
    brandsPausedLamp(deps, tenant),
    bouncesLamp(deps, tenant, now),
    domainsLamp(deps, tenant),
    quarantineLamp(deps, tenant),
    unconfirmedLamp(deps, tenant, now),
    quotaLamp(deps, tenant, now),
    webhooksLamp(deps, tenant),
  ])
  return lamps.filter(lamp => lamp !== null)
}

function countLamp(
  { count, more, since }: CountSince,
  lamp: Pick<StatusLamp, 'name' | 'level' | 'href'> & { readonly detail?: string | null },
): StatusLamp | null {
  if (count === 0) return null
  return { detail: null, ...lamp, count, more, unit: 'items', since: since && toIso(since) }
}

async function domainsLamp({ db }: OrganizationHealthDeps, tenant: Tenant) {
  const found = await countUnreadyDomains(db, tenant)
  return countLamp(found, { name: 'domains_not_ready', level: 'warning', href: '/domains' })
}

async function quarantineLamp({ db }: OrganizationHealthDeps, tenant: Tenant) {
  const found = await countQuarantined(db, tenant)
  return countLamp(found, { name: 'quarantine_waiting', level: 'warning', href: '/mail/quarantine' })
}

async function brandsPausedLamp({ db }: OrganizationHealthDeps, tenant: Tenant) {
  const pauses = await selectBrandPauses(db, tenant)
  const [longest] = pauses
  const found = { ...boundedCount(pauses.length, maxCounted), since: longest?.at ?? null }
  return countLamp(found, {
    name: 'brands_paused',
    level: 'critical',
    href: '/settings',
    detail: longest?.reason ?? null,
  })
}

async function webhooksLamp({ db }: OrganizationHealthDeps, tenant: Tenant) {
  const disabled = await selectDisabledWebhooks(db, tenant)
  const found = { ...boundedCount(disabled.length, maxCounted), since: disabled[0]?.at ?? null }
  return countLamp(found, { name: 'webhooks_disabled', level: 'warning', href: '/webhooks' })
}

/** Only where deliveries are reported is silence a warning. */
async function unconfirmedLamp({ db, unconfirmedMs, reports }: OrganizationHealthDeps, tenant: Tenant, now: Instant) {
  const to = plusMs(now, -unconfirmedMs)
  const found = await countSentWithoutReport(db, tenant, { from: plusMs(to, -reportableMs), to })
  return countLamp(found, {
    name: 'emails_unconfirmed',
    level: reports === 'webhook' ? 'warning' : 'notice',
    href: '/sent?status=sent',
    detail: reports === 'webhook' ? null : noReports[reports],
  })
}

const noReports = {
  dsn: 'The relay reports what fails; deliveries are not always reported.',
  none: 'The relay reports nothing about what it has accepted.',
} as const

/** The last day beside the week before it, of each at most the newest 10,000 emails. */
async function bouncesLamp(deps: OrganizationHealthDeps, tenant: Tenant, now: Instant) {
  const dayAgo = plusMs(now, -dayMs)
  const bounces = await countEmails(deps.db, tenant, 'bounced', { from: dayAgo, to: now })
  if (bounces.count === 0) return null
  const [today, usual] = await Promise.all([
    sampleBounces(deps.db, tenant, { from: dayAgo, to: now }),
    sampleBounces(deps.db, tenant, { from: plusMs(dayAgo, -7 * dayMs), to: dayAgo }),
  ])
  const level = bounceLevel(today, usual)
  if (level === null) return null
  const percent = (sample: BounceSample) => `${bouncePercent(sample).toFixed(1)} %`
  return countLamp(bounces, {
    name: 'bounces_high',
    level,
    href: '/sent?status=bounced',
    detail: `${percent(today)} of the emails of the last 24 hours bounced; in the 7 days before it was ${percent(usual)}.`,
  })
}

const submitted: readonly EmailStatus[] = ['sent', 'delivered', 'complained']

async function sampleBounces(db: Db, tenant: Tenant, span: Span): Promise<BounceSample> {
  const sampled = { from: await selectSampleStart(db, tenant, span), to: span.to }
  const [bounced, ...others] = await Promise.all(
    (['bounced', ...submitted] as const).map(status => countEmails(db, tenant, status, sampled)),
  )
  const count = bounced?.count ?? 0
  return { bounced: count, sent: others.reduce((sum, other) => sum + other.count, count) }
}

const quotaPercent = 80

/** The quota is the organization's, not a brand's. */
async function quotaLamp({ db }: OrganizationHealthDeps, { organizationId }: Tenant, now: Instant) {
  const organization = await findOrganization(db, organizationId)
  if (!organization) return null
  const { used, included } = await getUsage(db, organization, now)
  if (included === null || used * 100 < quotaPercent * included) return null
  const count = Math.floor((used * 100) / included)
  const isRefused = organization.plan === 'free' && used >= included
  return {
    name: 'quota_high',
    level: isRefused ? 'critical' : 'warning',
    count,
    more: false,
    unit: 'percent',
    since: null,
    detail: `${used.toLocaleString('en')} of ${included.toLocaleString('en')} emails of this month.`,
    href: '/settings',
  } as const
}
