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
  /** null: it does not grow, or nobody knows yet. */
  readonly daysUntilFull: number | null
}

/** How the disks stand, and when they will be full. */
export interface StorageForecast {
  /** The first one, where the database is on this machine, is that of its data. */
  readonly disks: readonly DiskForecast[]
  /** What the tables take, in bytes, and what is free within their files. */
  readonly stored: number
  readonly reusable: number
  /** Bytes a day, over so many days or as many as are known; null: less than a day is. */
  readonly growth: { readonly over7Days: number | null; readonly over30Days: number | null }
}

export interface ForecastDeps {
  readonly db: Db
  readonly clock: Clock
  readonly config: Pick<Config, 'varFolder' | 'databaseUrl'>
}

/** When the disks will be full, if what is stored goes on growing as it did: the faster of the last 7 and 30 days. */
export async function forecastStorage({ db, clock, config }: ForecastDeps): Promise<StorageForecast> {
  const tables = await selectTableSizes(db)
  const sum = (of: 'bytes' | 'reusable') => tables.reduce((total, table) => total + table[of], 0)
  const [stored, reusable] = [sum('bytes'), sum('reusable')]
  const growthOver = (days: number) => growthSince({ db, clock }, days, stored)
  const growth = { over7Days: await growthOver(7), over30Days: await growthOver(30) }
  const perDay = Math.max(growth.over7Days ?? 0, growth.over30Days ?? 0)
  const data = await mysqlDataDir(db, config.databaseUrl).catch(() => undefined)
  const database = data === undefined ? [] : [await diskForecast(data, 'database', reusable, perDay)]
  const isShared = data !== undefined && (await deviceOf(data)) === (await deviceOf(config.varFolder))
  const spool = await diskForecast(config.varFolder, 'spool', isShared ? reusable : 0, isShared ? perDay : 0)
  return { disks: [...database, spool].filter(each => each !== undefined), stored, reusable, growth }
}

async function growthSince({ db, clock }: Pick<ForecastDeps, 'db' | 'clock'>, days: number, stored: number) {
  const now = clock.now()
  const first = await selectFirstSampleSince(db, plusMs(now, -days * dayMs))
  const passed = first ? (millisecondsOf(now) - millisecondsOf(first.taken_at)) / dayMs : 0
  return first && passed >= 1 ? Math.round((stored - Number(first.bytes)) / passed) : null
}

async function diskForecast(
  path: string,
  holds: DiskForecast['holds'],
  reusable: number,
  perDay: number,
): Promise<DiskForecast | undefined> {
  const found = await statfs(path).catch(() => undefined)
  if (!found) return undefined
  const free = found.bavail * found.bsize
  const daysUntilFull = perDay > 0 ? Math.floor((free + reusable) / perDay) : null
  return { path, holds, free, total: found.blocks * found.bsize, daysUntilFull }
}

async function deviceOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.dev
}
