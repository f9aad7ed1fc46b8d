import { listOrganizations } from '../../accounts/organizations/organizations.ts'
import { systemClock } from '../../base/clock.ts'
import { size } from '../../base/format.ts'
import { type Amount, type Plan, planRetention } from '../../retention/plan.ts'
import { type Forecast, forecastDisk } from '../../retention/storage/forecast.ts'
import { type Environment, onDatabase, readArgs, type Told } from '../command.ts'
import { newProgress } from '../progress.ts'
import { configOf, said } from './policies.ts'

export async function onPlan(args: readonly string[], env: Environment): Promise<Told> {
  readArgs(args, {})
  const config = configOf(env)
  const clock = systemClock
  const progress = newProgress('items looked at')
  const { plan, forecast, names } = await onDatabase(env, async db => ({
    plan: await planRetention({ db, clock, settings: config }, count => progress.at(count)),
    forecast: await forecastDisk({ db, clock, config }),
    names: new Map((await listOrganizations(db)).map(each => [each.id as string, each.name])),
  }))
  progress.end()
  return {
    json: { planned: plan.planned.map(shape), forgotten: plan.forgotten, forecast: forecastShape(forecast) },
    text: [...planLines(plan, names), '', ...forecastLines(forecast)].join('\n'),
  }
}

function shape({ kind, organizationId, brandId, days, now, soon }: Plan['planned'][number]) {
  return { kind, organization_id: organizationId, brand_id: brandId, days, now, within_30_days: soon }
}

function forecastShape({ disks, stored, reusable, growth }: Forecast) {
  return {
    disks: disks.map(({ path, holds, free, total, daysUntilFull }) => ({
      path,
      holds,
      free_bytes: free,
      total_bytes: total,
      days_until_full: daysUntilFull,
    })),
    stored_bytes: stored,
    reusable_bytes: reusable,
    bytes_a_day: { over_7_days: growth.over7Days, over_30_days: growth.over30Days },
  }
}

function planLines({ planned, forgotten }: Plan, names: ReadonlyMap<string, string>): readonly string[] {
  const lines = planned.map(({ kind, organizationId, brandId, days, now, soon }) => {
    const whose = `${names.get(organizationId) ?? organizationId}${brandId ? ` ${brandId}` : ''}`
    return `${kind} after ${said(days)}, ${whose}: now ${shown(now)}; within 30 days ${shown(soon)} more`
  })
  return [
    ...(lines.length > 0 ? lines : ['Nothing goes within 30 days.']),
    ...(forgotten.items > 0 ? [`Bytes that nothing refers to any more, after seven days: ${shown(forgotten)}`] : []),
  ]
}

function shown({ items, bytes }: Amount): string {
  return items === 0 ? 'nothing' : `${items} (${size(bytes)})`
}

function forecastLines({ disks, stored, reusable, growth }: Forecast): readonly string[] {
  const perDay = growth.over7Days ?? growth.over30Days
  const grows =
    perDay === null
      ? 'how fast it grows is known after a day'
      : `${perDay < 0 ? '-' : ''}${size(Math.abs(perDay))} more a day`
  return [
    `Stored: ${size(stored)}, and ${size(reusable)} free within the files of the tables; ${grows}.`,
    ...disks.map(({ path, holds, free, total, daysUntilFull }) => {
      const when = daysUntilFull === null ? '' : `; full in ${said(daysUntilFull)}`
      return `${path} (${holds}): ${size(free)} of ${size(total)} free${when}.`
    }),
  ]
}
