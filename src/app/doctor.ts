import { startRounds } from '../base/concurrency/background-job.ts'
import type { Config } from '../base/config/config.ts'
import { openDatabase } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import { gauge } from '../base/observability/metrics.ts'
import type { Parts, RelayTrial } from '../health/doctor/check.ts'
import { longestMs, quickChecks } from '../health/doctor/checks.ts'
import { countLevels, type Examined, examine } from '../health/doctor/examine.ts'
import { realPorts } from './adapters.ts'
import type { Shared } from './shared.ts'

const pauseMs = 60 * 60_000
const smtpPort = 25
/** Within what a check may take, so that a relay that is silent is told as such. */
const trialSeconds = 8

const findings = gauge('mailroom_doctor_findings', 'What the quick part of doctor found last, by how grave it is.', [
  'level',
])

/**
 * Runs the quick part beside what serves: at the start, and once an hour. What is not as it should be is logged, and again
 * only once it has changed; where mail goes to a sandbox it is to be tried, and nobody is alarmed.
 */
export function startDoctor(shared: Shared): void {
  const { config, db, clock, resolver, log, atEnd } = shared
  const parts: Parts = { config, db, clock, resolver, relays: [], publicSmtpPort: smtpPort }
  let told: ReadonlyMap<string, string> | undefined
  const rounds = startRounds({ pauseMs, log, failure: 'the quick part of doctor was not run' }, async () => {
    const examined = await examine(quickChecks, parts, longestMs.quick)
    told = tell(examined, told, config.provider === 'sandbox' ? asInfo(log) : log)
    return 'done'
  })
  atEnd(() => rounds.stop())
}

/** Logs what is new since `told`: by name, the level of what was told. */
function tell(
  examined: readonly Examined[],
  told: ReadonlyMap<string, string> | undefined,
  log: Pick<Log, 'error' | 'warn' | 'info'>,
): ReadonlyMap<string, string> {
  const counts = countLevels(examined)
  for (const [level, count] of Object.entries(counts)) findings.set({ level }, count)
  for (const each of examined) {
    if (!('todo' in each) || told?.get(each.name) === each.level) continue
    const line = { check: each.name, seen: each.seen, todo: each.todo }
    if (each.level === 'error') log.error(line, 'doctor found a fault')
    else if (each.level === 'warning') log.warn(line, 'doctor found a weakness')
    else log.info(line, 'doctor noted something')
  }
  const { error: errors, warning: warnings, note: notes, ok } = counts
  if (told === undefined) log.info({ errors, warnings, notes, ok }, 'ran the quick part of doctor')
  return new Map(examined.map(each => [each.name, each.level]))
}

function asInfo(log: Log): Pick<Log, 'error' | 'warn' | 'info'> {
  const info = log.info.bind(log)
  return { error: info, warn: info, info }
}

/** Runs `work` with all that the checks look at, for a process that does not serve. */
export async function withDoctorParts<Result>(
  config: Config,
  work: (parts: Parts) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(config.databaseUrl, 4)
  const { clock, resolver } = realPorts(config)
  try {
    const relays = relaysOf(config)
    return await work({
      config,
      db: database.db,
      clock,
      resolver: resolver({ database }),
      relays,
      publicSmtpPort: smtpPort,
    })
  } finally {
    await database.close()
  }
}

/** Each host by itself: the provider of all is content with one of them. */
function relaysOf(config: Config): readonly RelayTrial[] {
  if (config.provider !== 'smarthost') return [trialOf(config.provider, config)]
  return (config.smarthostUrls ?? []).map(url => {
    const { protocol, host } = new URL(url)
    return trialOf(`${protocol}//${host}`, { ...config, smarthostUrls: [url] })
  })
}

function trialOf(name: string, config: Config): RelayTrial {
  return {
    name,
    async trouble() {
      const { provider } = realPorts({ ...config, relayAttemptSeconds: trialSeconds })
      try {
        return await provider.trouble()
      } finally {
        await provider.close()
      }
    },
  }
}
