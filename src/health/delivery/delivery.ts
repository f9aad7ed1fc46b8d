import { type Clock, dayMs, type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import { selectBrandIds } from '../../sending/reports/pause-table.ts'
import { countByDay } from './table.ts'

/** What became of the emails that were accepted on a day, as far as is known now. */
export interface DeliveryDay {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string
  /** The provider took them, and nobody has reported since. */
  readonly unconfirmed: number
  /** The recipient's server took them, as a report says. */
  readonly delivered: number
  readonly bounced: number
  /** Delivered, and complained of. */
  readonly complained: number
  /** The provider refused them, or they expired. */
  readonly failed: number
}

const shownDays = 14
const brandsPerQuery = 100

const columnOf: Partial<Record<EmailStatus, Exclude<keyof DeliveryDay, 'day'>>> = {
  sent: 'unconfirmed',
  delivered: 'delivered',
  bounced: 'bounced',
  complained: 'complained',
  failed: 'failed',
  rejected: 'failed',
}
const statuses = Object.keys(columnOf) as EmailStatus[]

/** The last 14 days, oldest first. Reads the index entries of the emails of these days. */
export async function countDeliveries({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<readonly DeliveryDay[]> {
  const now = clock.now()
  const days = Array.from({ length: shownDays }, (_, i) => plusMs(now, (i + 1 - shownDays) * dayMs).slice(0, 10))
  const counts = new Map(
    days.map(day => [day, { day, unconfirmed: 0, delivered: 0, bounced: 0, complained: 0, failed: 0 }]),
  )
  const since = `${days[0]} 00:00:00.000000` as Instant
  for (let after: string | undefined = ''; after !== undefined; ) {
    const brandIds: Awaited<ReturnType<typeof selectBrandIds>> = await selectBrandIds(db, after, brandsPerQuery)
    for (const { day, status, count } of await countByDay(db, brandIds, statuses, since)) {
      const column = columnOf[status]
      const row = counts.get(day)
      if (row && column) row[column] += count
    }
    after = brandIds.length < brandsPerQuery ? undefined : brandIds.at(-1)
  }
  return [...counts.values()]
}
