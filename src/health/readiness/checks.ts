import { stat } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Clock, millisecondsOf, minuteMs } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import type { DiskSpaceMonitor, FullFolder } from '../../base/disk-space.ts'
import { formatBytes } from '../../base/format.ts'
import type { Certificates } from '../../ports/certificates/port.ts'
import type { DnsProvider } from '../../ports/dns-zone/port.ts'
import type { Provider } from '../../ports/provider/port.ts'
import type { Canary } from '../../ports/resolver/canary.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import type { SpamFilter } from '../../ports/spam-filter/port.ts'
import { selectOldestDueAt } from '../../sending/relay/outbox.ts'
import { selectPausedBrands } from '../../sending/reports/pause-table.ts'
import { certificateReadiness } from './certificates.ts'
import type { Readiness, ReadinessPartState } from './readiness.ts'

export interface ReadinessDeps {
  readonly config: Pick<Config, 'varFolder' | 'leastFreeBytes'>
  readonly db: Db
  readonly canary: Canary
  readonly scanner: Scanner
  /** null: none is configured. */
  readonly spamFilter: SpamFilter | null
  readonly provider: Provider
  /** The same that decides whether mail is accepted. */
  readonly diskSpace: Pick<DiskSpaceMonitor, 'findFullFolder'>
  /** The DNS provider at which records are published; null: none. */
  readonly dnsProvider: DnsProvider | null
  readonly certificates: Certificates
  readonly clock: Clock
}

/** So that the answer is there within five seconds, whatever is away. */
const timeoutMs = 4000
const maxQueueAgeMs = 15 * minuteMs

/** Checks each part that the service needs, all at the same time, each for at most four seconds. */
export function createReadiness(deps: ReadinessDeps): Readiness {
  const { dnsProvider, spamFilter } = deps
  return async () => {
    const [database, scanner, spam_filter, resolver, relay, dns_provider, disk, queue_age, paused] = await Promise.all([
      checkPart(async () => void (await sql`select 1`.execute(deps.db))),
      checkPart(async () => ((await deps.scanner.isReady()) ? undefined : 'clamd does not answer')),
      spamFilter &&
        checkPart(async () =>
          (await spamFilter.isReady()) ? undefined : 'rspamd does not answer: mail is filed without it',
        ),
      checkPart(async () => ((await deps.canary()) ? undefined : 'no DNS server answers')),
      checkPart(async () => (await deps.provider.checkHealth()) ?? undefined, describeRelay(deps.provider)),
      dnsProvider && checkPart(async () => (await dnsProvider.checkHealth()) ?? undefined),
      checkPart(() => findDiskProblem(deps)),
      checkPart(() => findQueueProblem(deps)),
      describePausedBrands(deps.db),
    ])
    return {
      database,
      scanner,
      ...(spam_filter && { spam_filter }),
      resolver,
      relay: withNote(relay, paused),
      ...(dns_provider && { dns_provider }),
      ...certificateReadiness(deps.certificates, millisecondsOf(deps.clock.now())),
      disk,
      queue_age,
    }
  }
}

/** Ready when `find` gives no problem in time; `note` is the detail then. */
async function checkPart(
  find: () => Promise<string | undefined>,
  note: string | null = null,
): Promise<ReadinessPartState> {
  const timeout = Bun.sleep(timeoutMs).then(() => `no answer within ${timeoutMs / 1000} seconds`)
  const problem = await Promise.race([find(), timeout]).catch((error: Error) => error.message)
  return problem === undefined ? { ready: true, detail: note } : { ready: false, detail: problem }
}

/** How the provider reports what became of an email: without reports no status gets past `sent`. */
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

/** A paused brand does not make the relay unready: others send. */
async function describePausedBrands(db: Db): Promise<string | null> {
  const timeout = Bun.sleep(timeoutMs).then(() => [])
  const paused = await Promise.race([selectPausedBrands(db), timeout]).catch(() => [])
  if (paused.length === 0) return null
  return `sending is paused for ${paused.length === 1 ? '1 brand' : `${paused.length} brands`}`
}

function withNote(state: ReadinessPartState, note: string | null): ReadinessPartState {
  return { ...state, detail: [state.detail, note].filter(text => text !== null).join('; ') || null }
}

async function findDiskProblem({ config, diskSpace }: ReadinessDeps): Promise<string | undefined> {
  // A missing folder is no full disk, but nothing can be spooled.
  await stat(config.varFolder)
  const full = await diskSpace.findFullFolder()
  return full && describeFullFolder(full, config.leastFreeBytes)
}

/** Says that mail is refused, and why; for `/ready` and doctor. */
export function describeFullFolder({ folder, freeBytes }: FullFolder, minFreeBytes: number): string {
  return `${formatBytes(freeBytes)} free in ${folder}: below ${formatBytes(minFreeBytes)} mail is refused`
}

/** Has an email been due for longer than a working relay lets it wait? */
export async function findQueueProblem({
  db,
  clock,
}: Pick<ReadinessDeps, 'db' | 'clock'>): Promise<string | undefined> {
  const due = await selectOldestDueAt(db)
  const waitedMs = due === undefined ? 0 : millisecondsOf(clock.now()) - millisecondsOf(due)
  return waitedMs > maxQueueAgeMs ? `an email has been due for ${Math.round(waitedMs / minuteMs)} minutes` : undefined
}
