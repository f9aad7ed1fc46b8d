import { listOrganizations } from '../../accounts/organizations/organizations.ts'
import { systemClock } from '../../base/clock.ts'
import { formatBytes } from '../../base/format.ts'
import { planRetention, type RemovalAmount, type RetentionPlan } from '../../retention/plan.ts'
import { toJsonForecast, toJsonPlan } from '../../retention/schema.ts'
import { forecastStorage, type StorageForecast } from '../../retention/storage/forecast.ts'
import { defineCommand } from '../command.ts'
import { readCommandConfig, withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { describeDays } from './policies.ts'

export const plan = defineCommand({
  name: 'retention plan',
  summary: 'Show what will be deleted, and when the disk will be full',
  details: 'Changes nothing. Shows what would be deleted now and within 30 days.',
  async run(_values, { env }) {
    const config = readCommandConfig(env)
    const clock = systemClock
    const progress = openProgressLine('items checked')
    const { plan, forecast, names } = await withDatabase(env, async db => ({
      plan: await planRetention({ db, clock, settings: config }, count => progress.report(count)),
      forecast: await forecastStorage({ db, clock, config }),
      names: new Map((await listOrganizations(db)).map(organization => [organization.id as string, organization.name])),
    })).finally(() => progress.end())
    return {
      json: { ...toJsonPlan(plan), forecast: toJsonForecast(forecast) },
      text: [...planLines(plan, names), '', ...forecastLines(forecast)].join('\n'),
    }
  },
})

function planLines(
  { removals, unreferencedBlobs }: RetentionPlan,
  names: ReadonlyMap<string, string>,
): readonly string[] {
  const lines = removals.map(({ kind, organizationId, brandId, days, now, soon }) => {
    const owner = `${names.get(organizationId) ?? organizationId}${brandId ? ` ${brandId}` : ''}`
    return `${kind} after ${describeDays(days)}, ${owner}: now ${describeAmount(now)}; within 30 days ${describeAmount(soon)} more`
  })
  return [
    ...(lines.length > 0 ? lines : ['Nothing is deleted within 30 days.']),
    ...(unreferencedBlobs.items > 0
      ? [`Content that nothing refers to any more, after seven days: ${describeAmount(unreferencedBlobs)}`]
      : []),
  ]
}

function describeAmount({ items, bytes }: RemovalAmount): string {
  return items === 0 ? 'nothing' : `${items} (${formatBytes(bytes)})`
}

function forecastLines({ disks, stored, reusable, growth }: StorageForecast): readonly string[] {
  const perDay = growth.over7Days ?? growth.over30Days
  const rate =
    perDay === null
      ? 'its growth is known after a day'
      : `${perDay < 0 ? '-' : ''}${formatBytes(Math.abs(perDay))} more a day`
  return [
    `Stored: ${formatBytes(stored)}, and ${formatBytes(reusable)} free inside the table files; ${rate}.`,
    ...disks.map(({ path, holds, free, total, daysUntilFull }) => {
      const when = daysUntilFull === null ? '' : `; full in ${describeDays(daysUntilFull)}`
      return `${path} (${holds}): ${formatBytes(free)} of ${formatBytes(total)} free${when}.`
    }),
  ]
}
