import { dayMs, plusMs } from '../../base/clock.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { type ForecastDeps, forecastStorage } from './forecast.ts'
import { sumByKind } from './kinds.ts'
import { insertStorageSample, selectTableSizes } from './table.ts'

const diskFree = gauge('mailroom_disk_free_bytes', 'Free space of the disks that Mailroom writes to.', ['path'])
const diskFullIn = gauge(
  'mailroom_disk_full_in_seconds',
  'Time until the disk is full if the data grows as in the last days; absent: it does not grow, or less than a day was measured.',
  ['path'],
)
const storedBytes = gauge('mailroom_stored_bytes', 'Size of the tables, as the database server estimates it.', ['kind'])
const reusableBytes = gauge(
  'mailroom_reusable_bytes',
  'Free space within the files of the tables, which new data uses first.',
)

const hourLength = '2026-01-31 08'.length
const sampleRetentionMs = 40 * dayMs

/** Shows how much is stored and how much disk space is free, and stores one sample of it an hour. */
export async function measureStorage(deps: ForecastDeps): Promise<void> {
  const { db, clock } = deps
  for (const { kind, bytes } of sumByKind(await selectTableSizes(db))) storedBytes.set({ kind }, bytes)
  const now = clock.now()
  const hour = `${now.slice(0, hourLength)}:00:00.000000` as typeof now
  const { disks, stored, reusable } = await forecastStorage(deps)
  await insertStorageSample(db, hour, stored, plusMs(now, -sampleRetentionMs))
  reusableBytes.set(reusable)
  for (const { path, free, daysUntilFull } of disks) {
    diskFree.set({ path }, free)
    if (daysUntilFull === null) diskFullIn.remove({ path })
    else diskFullIn.set({ path }, (daysUntilFull * dayMs) / 1000)
  }
}
