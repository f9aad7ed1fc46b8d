import type { JobRound } from '../base/concurrency/background-job.ts'
import type { Config } from '../base/config/config.ts'
import { openDatabase } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import { gauge } from '../base/observability/metrics.ts'
import type { DoctorDeps, RelayProbe } from '../health/doctor/check.ts'
import { checkTimeoutMs, quickChecks } from '../health/doctor/checks.ts'
import { countByLevel, type DoctorResult, runChecks } from '../health/doctor/run-checks.ts'
import { createAdapters } from './adapters.ts'
import type { AppContext } from './app-context.ts'

const smtpPort = 25
/** Within what a check may take, so that a relay that is silent is told as such. */
const relayProbeSeconds = 8

const findings = gauge('mailroom_doctor_findings', 'What the quick part of doctor found last, by how grave it is.', [
  'level',
])

/**
 * Prepares the job `doctor`: the quick checks, in the process that serves. A problem is logged once, and again when its level
 * changes. With the provider `sandbox` Mailroom is only being tried out, so that problems are logged at `info`.
 */
export function openDoctor({ config, db, clock, resolver, log }: AppContext): JobRound {
  const deps: DoctorDeps = { config, db, clock, resolver, relays: [], publicSmtpPort: smtpPort }
  let logged: ReadonlyMap<string, string> | undefined
  return async () => {
    const results = await runChecks(quickChecks, deps, checkTimeoutMs.quick)
    logged = logFindings(results, logged, config.provider === 'sandbox' ? atInfoLevel(log) : log)
    return 'done'
  }
}

/** Logs what is new since `told`: by name, the level of what was told. */
function logFindings(
  examined: readonly DoctorResult[],
  told: ReadonlyMap<string, string> | undefined,
  log: Pick<Log, 'error' | 'warn' | 'info'>,
): ReadonlyMap<string, string> {
  const counts = countByLevel(examined)
  for (const [level, count] of Object.entries(counts)) findings.set({ level }, count)
  for (const doctorResult of examined) {
    if (!('todo' in doctorResult) || told?.get(doctorResult.name) === doctorResult.level) continue
    const line = { check: doctorResult.name, seen: doctorResult.seen, todo: doctorResult.todo }
    if (doctorResult.level === 'error') log.error(line, 'doctor found a fault')
    else if (doctorResult.level === 'warning') log.warn(line, 'doctor found a weakness')
    else log.info(line, 'doctor noted something')
  }
  const { error: errors, warning: warnings, note: notes, ok } = counts
  if (told === undefined) log.info({ errors, warnings, notes, ok }, 'ran the quick part of doctor')
  return new Map(examined.map(doctorResult => [doctorResult.name, doctorResult.level]))
}

function atInfoLevel(log: Log): Pick<Log, 'error' | 'warn' | 'info'> {
  const info = log.info.bind(log)
  return { error: info, warn: info, info }
}

/** Runs `work` with all that the checks look at, for a process that does not serve. */
export async function withDoctorDeps<Result>(
  config: Config,
  work: (parts: DoctorDeps) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(config.databaseUrl, 4)
  const { clock, resolver } = createAdapters(config)
  try {
    const relays = relayProbes(config)
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
function relayProbes(config: Config): readonly RelayProbe[] {
  if (config.provider !== 'smarthost') return [relayProbe(config.provider, config)]
  return (config.smarthostUrls ?? []).map(url => {
    const { protocol, host } = new URL(url)
    return relayProbe(`${protocol}//${host}`, { ...config, smarthostUrls: [url] })
  })
}

function relayProbe(name: string, config: Config): RelayProbe {
  return {
    name,
    async findProblem() {
      const { provider } = createAdapters({ ...config, relayAttemptSeconds: relayProbeSeconds })
      try {
        return await provider.checkHealth()
      } finally {
        await provider.close()
      }
    },
  }
}
