import type { Tenant } from '../../api/tenant.ts'
import { dayMs, type Instant, plusMs, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { emailStatuses } from '../../base/database/schema.ts'
import { type HourCounts, hourlyLimits, openHourlyCounts } from './hourly-counts.ts'
import { type OrganizationHealthDeps, readLamps } from './lamps.ts'
import { selectFirstSteps, selectRecentEmails, selectRecentEvents, selectRecentMessages } from './recent-table.ts'
import type { RecentEvent, StatusCount, StatusLamp, Today } from './schema.ts'
import { countEmails } from './table.ts'
import { openTenantCache } from './tenant-cache.ts'

/** The parts of Today, whatever a member may see of them. */
type TodayParts = Omit<Today, 'statuses'> & { readonly statuses: StatusCount[] }

/** Reads an organization's lamps and its Today, or those of one of its brands; each is at most some seconds old. */
export interface OrganizationHealth {
  lamps(tenant: Tenant): Promise<readonly StatusLamp[]>
  today(tenant: Tenant): Promise<TodayParts>
}

const lampsTtlMs = 5000
const todayTtlMs = 3000
/** Of emails and of messages each, so that whoever sees one of the two sees as many. */
const recentEvents = 10

export function openOrganizationHealth(deps: OrganizationHealthDeps): OrganizationHealth {
  const countHours = openHourlyCounts(deps)
  const lamps = openTenantCache(tenant => readLamps(deps, tenant), { ttlMs: lampsTtlMs })
  const today = openTenantCache(
    async (tenant): Promise<TodayParts> => {
      const now = deps.clock.now()
      const [hours, statuses, attention, events, first_steps] = await Promise.all([
        countHours(tenant),
        countStatuses(deps.db, tenant, now),
        lamps(tenant),
        readRecentEvents(deps.db, tenant),
        selectFirstSteps(deps.db, tenant),
      ])
      return {
        hours: hours.map(toJsonHour),
        complete: hours.every(hour => hour.received !== null),
        statuses,
        attention: [...attention],
        events,
        first_steps,
      }
    },
    { ttlMs: todayTtlMs },
  )
  return { lamps, today }
}

function toJsonHour({ at, received, accepted }: HourCounts): Today['hours'][number] {
  const most = hourlyLimits.mostPerHour
  const upTo = (count: number | null) => (count === null ? null : Math.min(count, most))
  return {
    at: toIso(at),
    received: upTo(received),
    accepted: upTo(accepted),
    more: Math.max(received ?? 0, accepted ?? 0) > most,
  }
}

async function countStatuses(db: Db, tenant: Tenant, now: Instant): Promise<StatusCount[]> {
  const span = { from: plusMs(now, -dayMs), to: now }
  return Promise.all(
    emailStatuses.map(async status => {
      const { count, more } = await countEmails(db, tenant, status, span)
      return { status, count, more }
    }),
  )
}

/** What happened last, newest first: emails accepted, their events, messages received; up to ten of each. */
async function readRecentEvents(db: Db, tenant: Tenant): Promise<RecentEvent[]> {
  const [emails, events, messages] = await Promise.all([
    selectRecentEmails(db, tenant, recentEvents),
    selectRecentEvents(db, tenant, recentEvents),
    selectRecentMessages(db, tenant, recentEvents),
  ])
  const all: RecentEvent[] = [
    ...emails.map(row => ({
      id: `evt_${row.id.slice(4)}`,
      at: toIso(row.created_at),
      kind: 'email' as const,
      type: row.scheduled_at === null ? ('queued' as const) : ('scheduled' as const),
      subject_id: row.id,
      address: null,
      subject: row.subject,
      folder: null,
    })),
    ...events.map(row => ({
      id: row.id,
      at: toIso(row.recorded_at),
      kind: 'email' as const,
      type: row.type,
      subject_id: row.email_id,
      address: row.recipient,
      subject: row.subject,
      folder: null,
    })),
    ...messages.map(row => ({
      id: `evt_${row.id.slice(4)}`,
      at: toIso(row.received_at),
      kind: 'message' as const,
      type: 'received' as const,
      subject_id: row.id,
      address: row.from_address,
      subject: row.subject,
      folder: row.folder,
    })),
  ]
  return all.sort((a, b) => (a.at === b.at ? (a.id < b.id ? 1 : -1) : a.at < b.at ? 1 : -1))
}
