import { stat, statfs } from 'node:fs/promises'
import { type Clock, dayMs, millisecondsOf, plusMs } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import { mysqlDataDir } from '../../base/database/mysql-data-dir.ts'
import { selectFirstSampleSince, selectTableSizes } from './table.ts'

/** A disk that Mailroom writes to, in bytes. */
export interface DiskForecast {
  readonly path: string
  readonly holds: 'database' | 'spool'
  readonly free: number
  readonly total: number
  /** null: the stored data does not grow, or that is not known yet. */
  readonly daysUntilFull: number | null
}

/** The free space of the disks, and when they will be full. */
export interface StorageForecast {
  /** First the disk of the database's data directory, if the database is on this machine. */
  readonly disks: readonly DiskForecast[]
  /** The size of the tables, and the free space within their files, in bytes. */
  readonly stored: number
  readonly reusable: number
  /** Bytes a day, over so many days or as many as were sampled; null: less than a day was. */
  readonly growth: { readonly over7Days: number | null; readonly over30Days: number | null }
}

export interface ForecastDeps {
  readonly db: Db
  readonly clock: Clock
  readonly config: Pick<Config, 'varFolder' | 'databaseUrl'>
}

/** Forecasts when the disks will be full if the stored data grows as in the last 7 or 30 days, whichever was faster. */
export async function forecastStorage({ db, clock, config }: ForecastDeps): Promise<StorageForecast> {
  const tables = await selectTableSizes(db)
  const sum = (column: 'bytes' | 'reusable') => tables.reduce((total, table) => total + table[column], 0)
  const [stored, reusable] = [sum('bytes'), sum('reusable')]
  const growthOver = (days: number) => growthSince({ db, clock }, days, stored)
  const growth = { over7Days: await growthOver(7), over30Days: await growthOver(30) }
  const perDay = Math.max(growth.over7Days ?? 0, growth.over30Days ?? 0)
  const data = await mysqlDataDir(db, config.databaseUrl).catch(() => undefined)
  const database = data === undefined ? [] : [await diskForecast(data, 'database', reusable, perDay)]
  const isShared = data !== undefined && (await deviceOf(data)) === (await deviceOf(config.varFolder))
  const spool = await diskForecast(config.varFolder, 'spool', isShared ? reusable : 0, isShared ? perDay : 0)
  return { disks: [...database, spool].filter(disk => disk !== undefined), stored, reusable, growth }
}

async function growthSince({ db, clock }: Pick<ForecastDeps, 'db' | 'clock'>, days: number, stored: number) {
  const now = clock.now()
  const sample = await selectFirstSampleSince(db, plusMs(now, -days * dayMs))
  const passedDays = sample ? (millisecondsOf(now) - millisecondsOf(sample.taken_at)) / dayMs : 0
  return sample && passedDays >= 1 ? Math.round((stored - Number(sample.bytes)) / passedDays) : null
}

async function diskForecast(
  path: string,
  holds: DiskForecast['holds'],
  reusable: number,
  perDay: number,
): Promise<DiskForecast | undefined> {
  const stats = await statfs(path).catch(() => undefined)
  if (!stats) return undefined
  const free = stats.bavail * stats.bsize
  const daysUntilFull = perDay > 0 ? Math.floor((free + reusable) / perDay) : null
  return { path, holds, free, total: stats.blocks * stats.bsize, daysUntilFull }
}

async function deviceOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.dev
}
