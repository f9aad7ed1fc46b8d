import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Config } from '../../base/config.ts'
import type { Db } from '../../base/database.ts'
import type { Provider } from '../../ports/provider/port.ts'
import type { Canary } from '../../ports/resolver/canary.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import { oldestDue } from '../../sending/outbox.ts'
import type { PartState, Readiness } from './readiness.ts'

export interface Parts {
  readonly config: Pick<Config, 'varFolder'>
  readonly db: Db
  readonly canary: Canary
  readonly scanner: Scanner
  readonly provider: Provider
  readonly clock: Clock
}

const answerMs = 5000
const leastFreeBytes = 512 * 1024 * 1024
const longestQueueMs = 15 * 60_000

/** Looks at each part that the service needs, all at the same time, none longer than five seconds. */
export function checkReadiness(parts: Parts): Readiness {
  return async () => {
    const [database, scanner, resolver, relay, disk, queue_age] = await Promise.all([
      look(async () => void (await sql`select 1`.execute(parts.db))),
      look(async () => ((await parts.scanner.isReady()) ? undefined : 'clamd does not answer')),
      look(async () => ((await parts.canary()) ? undefined : 'no DNS server answers')),
      look(async () => (await parts.provider.trouble()) ?? undefined, describeRelay(parts.provider)),
      look(() => diskTrouble(parts.config.varFolder)),
      look(() => queueTrouble(parts)),
    ])
    return { database, scanner, resolver, relay, disk, queue_age }
  }
}

/** Ready when `find` finds no trouble, in time. */
async function look(find: () => Promise<string | undefined>, note: string | null = null): Promise<PartState> {
  const late = Bun.sleep(answerMs).then(() => `no answer within ${answerMs / 1000} seconds`)
  const trouble = await Promise.race([find(), late]).catch((error: Error) => error.message)
  return trouble === undefined ? { ready: true, detail: note } : { ready: false, detail: trouble }
}

function describeRelay({ traits }: Provider): string | null {
  return traits.reports === 'none' ? `${traits.name} reports nothing: a status ends at sent` : null
}

async function diskTrouble(folder: string): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  return free < leastFreeBytes ? `${Math.round(free / 1024 / 1024)} MB free in ${folder}` : undefined
}

async function queueTrouble({ db, clock }: Parts): Promise<string | undefined> {
  const due = await oldestDue(db)
  const waitedMs = due === undefined ? 0 : millisecondsOf(clock.now()) - millisecondsOf(due)
  return waitedMs > longestQueueMs ? `an email has been due for ${Math.round(waitedMs / 60_000)} minutes` : undefined
}
