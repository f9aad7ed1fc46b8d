import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import type { Certificates } from '../../ports/certificates/port.ts'
import type { DnsProvider } from '../../ports/dns-zone/port.ts'
import type { Provider } from '../../ports/provider/port.ts'
import type { Canary } from '../../ports/resolver/canary.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import { selectOldestDueAt } from '../../sending/relay/outbox.ts'
import { selectPausedBrands } from '../../sending/reports/pause-table.ts'
import { certificateReadiness } from './certificates.ts'
import type { Readiness, ReadinessPartState } from './readiness.ts'

export interface ReadinessDeps {
  readonly config: Pick<Config, 'varFolder'>
  readonly db: Db
  readonly canary: Canary
  readonly scanner: Scanner
  readonly provider: Provider
  /** Where records are published; null: nowhere. */
  readonly zone: DnsProvider | null
  readonly certificates: Certificates
  readonly clock: Clock
}

const timeoutMs = 5000
const leastFreeBytes = 512 * 1024 * 1024
const maxQueueAgeMs = 15 * 60_000

/** Looks at each part that the service needs, all at the same time, none longer than five seconds. */
export function createReadiness(parts: ReadinessDeps): Readiness {
  const { zone } = parts
  return async () => {
    const [database, scanner, resolver, relay, dns_provider, disk, queue_age, paused] = await Promise.all([
      checkPart(async () => void (await sql`select 1`.execute(parts.db))),
      checkPart(async () => ((await parts.scanner.isReady()) ? undefined : 'clamd does not answer')),
      checkPart(async () => ((await parts.canary()) ? undefined : 'no DNS server answers')),
      checkPart(async () => (await parts.provider.checkHealth()) ?? undefined, describeRelay(parts.provider)),
      zone && checkPart(async () => (await zone.checkHealth()) ?? undefined),
      checkPart(() => findDiskProblem(parts.config.varFolder)),
      checkPart(() => findQueueProblem(parts)),
      describePausedBrands(parts.db),
    ])
    return {
      database,
      scanner,
      resolver,
      relay: withNote(relay, paused),
      ...(dns_provider && { dns_provider }),
      ...certificateReadiness(parts.certificates, millisecondsOf(parts.clock.now())),
      disk,
      queue_age,
    }
  }
}

/** Ready when `find` finds no trouble, in time. */
async function checkPart(
  find: () => Promise<string | undefined>,
  note: string | null = null,
): Promise<ReadinessPartState> {
  const late = Bun.sleep(timeoutMs).then(() => `no answer within ${timeoutMs / 1000} seconds`)
  const trouble = await Promise.race([find(), late]).catch((error: Error) => error.message)
  return trouble === undefined ? { ready: true, detail: note } : { ready: false, detail: trouble }
}

/** What of its work is told: where nothing is, a status that says `sent` says no more. */
function describeRelay({ traits }: Provider): string | null {
  const { name, reports } = traits
  switch (reports) {
    case 'none':
      return `${name} reports nothing: a status ends at sent`
    case 'dsn':
      return `${name} reports by DSN: where none comes a status ends at sent`
    case 'webhook':
      return null
    default:
      return reports satisfies never
  }
}

/** A brand that is paused does not make the relay unready: others send. */
async function describePausedBrands(db: Db): Promise<string | null> {
  const late = Bun.sleep(timeoutMs).then(() => [])
  const paused = await Promise.race([selectPausedBrands(db), late]).catch(() => [])
  if (paused.length === 0) return null
  return `sending is paused for ${paused.length === 1 ? '1 brand' : `${paused.length} brands`}`
}

function withNote(state: ReadinessPartState, note: string | null): ReadinessPartState {
  return { ...state, detail: [state.detail, note].filter(each => each !== null).join('; ') || null }
}

/** Is there too little room in this folder? */
export async function findDiskProblem(folder: string): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  return free < leastFreeBytes ? `${Math.round(free / 1024 / 1024)} MB free in ${folder}` : undefined
}

/** Has an email been due for longer than a relay that works lets it wait? */
export async function findQueueProblem({
  db,
  clock,
}: Pick<ReadinessDeps, 'db' | 'clock'>): Promise<string | undefined> {
  const due = await selectOldestDueAt(db)
  const waitedMs = due === undefined ? 0 : millisecondsOf(clock.now()) - millisecondsOf(due)
  return waitedMs > maxQueueAgeMs ? `an email has been due for ${Math.round(waitedMs / 60_000)} minutes` : undefined
}
