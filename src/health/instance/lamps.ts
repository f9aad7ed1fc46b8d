import {
  type Clock,
  dayMs,
  type Instant,
  instantAt,
  millisecondsOf,
  minuteMs,
  plusMs,
  toIso,
} from '../../base/clock.ts'
import { selectNewestBackup } from '../../base/database/backup-runs-table.ts'
import type { Db } from '../../base/database/database.ts'
import { version } from '../../base/version.ts'
import type { Certificates } from '../../ports/certificates/port.ts'
import type { StorageForecast } from '../../retention/storage/forecast.ts'
import { selectOldestDueAt } from '../../sending/relay/outbox.ts'
import type { LatestResults } from '../doctor/results/latest-results.ts'
import { isAlive } from '../processes/processes.ts'
import { type ProcessRow, selectProcesses } from '../processes/table.ts'
import type { InstanceLamp } from './schema.ts'

export interface InstanceLampDeps {
  readonly db: Db
  readonly clock: Clock
  readonly doctorResults: LatestResults
  readonly certificates: Certificates
  /** May be some time old: it asks for the size of all tables. */
  readonly forecast: () => Promise<StorageForecast>
  /** Is Mailroom only being tried out? Then nobody is reminded to make backups. */
  readonly isTrial: boolean
}

const dueMs = 5 * minuteMs
const longDueMs = 15 * minuteMs
const diskDays = 30
const fewDiskDays = 7
const certificateDays = 14
const fewCertificateDays = 3
const provenDays = 8
const maxProcesses = 100

/** What is wrong in the instance: only what an operator should look at. Reads a few rows. */
export async function readInstanceLamps(deps: InstanceLampDeps): Promise<readonly InstanceLamp[]> {
  const now = deps.clock.now()
  const processes = (await selectProcesses(deps.db, maxProcesses)).filter(row => isAlive(row, now))
  const lamps = [
    breakerLamp(processes),
    await queueLamp(deps, now),
    doctorLamp(deps),
    await diskLamp(deps),
    certificateLamp(deps, now),
    await restoreLamp(deps, now),
    versionLamp(processes),
  ]
  return lamps.filter(lamp => lamp !== null)
}

type LampFields = Pick<InstanceLamp, 'name' | 'level' | 'count' | 'href'> & Partial<InstanceLamp>

function lamp(fields: LampFields): InstanceLamp {
  return { more: false, unit: 'items', since: null, detail: null, ...fields }
}

function breakerLamp(processes: readonly ProcessRow[]): InstanceLamp | null {
  const open = processes
    .filter(row => row.breaker_opened_at !== null)
    .toSorted((a, b) => (a.breaker_opened_at ?? '').localeCompare(b.breaker_opened_at ?? ''))
  const [first] = open
  if (!first?.breaker_opened_at) return null
  return lamp({
    ...{ name: 'relay_breaker_open', level: 'critical', count: open.length, href: '/queue' },
    since: toIso(first.breaker_opened_at),
    detail: first.breaker_reply,
  })
}

async function queueLamp({ db }: InstanceLampDeps, now: Instant): Promise<InstanceLamp | null> {
  const due = await selectOldestDueAt(db)
  const waitedMs = due === undefined ? 0 : millisecondsOf(now) - millisecondsOf(due)
  if (due === undefined || waitedMs < dueMs) return null
  const level = waitedMs < longDueMs ? 'warning' : 'critical'
  return lamp({ name: 'queue_waiting', level, count: 1, more: true, href: '/queue', since: toIso(due) })
}

function doctorLamp({ doctorResults }: InstanceLampDeps): InstanceLamp | null {
  const run = doctorResults.current()
  const found = run?.results.filter(({ level }) => level === 'error' || level === 'warning') ?? []
  const worst = found.find(({ level }) => level === 'error') ?? found[0]
  if (!run || !worst) return null
  return lamp({
    ...{
      name: 'doctor_findings',
      level: worst.level === 'error' ? 'critical' : 'warning',
      count: found.length,
      href: '/',
    },
    since: toIso(run.at),
    detail: worst.seen,
  })
}

async function diskLamp({ forecast }: InstanceLampDeps): Promise<InstanceLamp | null> {
  const { disks } = await forecast()
  const [first] = disks
    .filter(disk => disk.daysUntilFull !== null)
    .toSorted((a, b) => (a.daysUntilFull ?? 0) - (b.daysUntilFull ?? 0))
  const days = first?.daysUntilFull ?? diskDays
  if (!first || days >= diskDays) return null
  const level = days < fewDiskDays ? 'critical' : 'warning'
  return lamp({ name: 'disk_full_soon', level, count: days, unit: 'days', href: '/storage', detail: first.path })
}

function certificateLamp({ certificates }: InstanceLampDeps, now: Instant): InstanceLamp | null {
  const ending = certificates
    .states()
    .flatMap(({ name, notAfter }) => (notAfter ? [{ name, atMs: notAfter.getTime() }] : []))
    .toSorted((a, b) => a.atMs - b.atMs)
  const [first] = ending
  if (!first) return null
  const days = Math.floor((first.atMs - millisecondsOf(now)) / dayMs)
  if (days >= certificateDays) return null
  const level = days < fewCertificateDays ? 'critical' : 'warning'
  const until = toIso(instantAt(first.atMs * 1000))
  return lamp({
    ...{ name: 'certificate_expiring', level, count: Math.max(days, 0), unit: 'days', href: '/certificates' },
    detail: `${first.name} expires ${until.slice(0, 10)}`,
  })
}

async function restoreLamp({ db, isTrial }: InstanceLampDeps, now: Instant): Promise<InstanceLamp | null> {
  const proven = (await selectNewestBackup(db, 'proven_at'))?.proven_at
  if (proven && proven > plusMs(now, -provenDays * dayMs)) return null
  const newest = (await selectNewestBackup(db, 'finished_at'))?.finished_at
  if (isTrial && !newest) return null
  const days = proven ? Math.floor((millisecondsOf(now) - millisecondsOf(proven)) / dayMs) : 0
  return lamp({
    ...{ name: 'restore_unproven', level: 'warning', count: days, unit: 'days', href: '/backups' },
    since: proven ? toIso(proven) : null,
    detail: proven ? null : newest ? 'No backup was ever verified' : 'There is no backup',
  })
}

function versionLamp(processes: readonly ProcessRow[]): InstanceLamp | null {
  const others = processes.filter(row => row.version !== version)
  const [first] = others
  if (!first) return null
  return lamp({
    ...{ name: 'other_versions', level: 'notice', count: others.length, href: '/' },
    since: toIso(first.started_at),
    detail: `${first.host} runs ${first.version}, this process ${version}`,
  })
}
