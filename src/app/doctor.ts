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

const publicSmtpPort = 25
/** Shorter than the time limit of a check, so that a silent relay is reported as such. */
const relayProbeSeconds = 8

const findings = gauge('mailroom_doctor_findings', 'Findings of the last quick run of doctor, by level.', ['level'])

/**
 * Prepares the job `doctor`: the quick checks, in the process that serves. A problem is logged once, and again when its level
 * changes. With the provider `sandbox` Mailroom is only being tried out, so that problems are logged at `info`.
 */
export function openDoctor({ share, db, clock, resolver, log, doctorResults }: AppContext): JobRound {
  const { instanceConfig: config } = share
  const deps: DoctorDeps = { config, db, clock, resolver, relays: [], publicSmtpPort }
  let logged: ReadonlyMap<string, string> | undefined
  return async () => {
    const results = await runChecks(quickChecks, deps, checkTimeoutMs.quick)
    doctorResults.record({ at: clock.now(), isQuick: true, results })
    // Each process shows the results to operators; one of them reports them.
    if (share.runsJobs) logged = logFindings(results, logged, config.provider === 'sandbox' ? atInfoLevel(log) : log)
    return 'done'
  }
}

/** Logs the findings whose level changed since `logged`; gives the level of each check, by name. */
function logFindings(
  results: readonly DoctorResult[],
  logged: ReadonlyMap<string, string> | undefined,
  log: Pick<Log, 'error' | 'warn' | 'info'>,
): ReadonlyMap<string, string> {
  const counts = countByLevel(results)
  for (const [level, count] of Object.entries(counts)) findings.set({ level }, count)
  for (const result of results) {
    if (!('todo' in result) || logged?.get(result.name) === result.level) continue
    const line = { check: result.name, seen: result.seen, todo: result.todo }
    if (result.level === 'error') log.error(line, 'doctor: error')
    else if (result.level === 'warning') log.warn(line, 'doctor: warning')
    else log.info(line, 'doctor: note')
  }
  const { error: errors, warning: warnings, note: notes, ok } = counts
  if (logged === undefined) log.info({ errors, warnings, notes, ok }, 'doctor ran its quick checks')
  return new Map(results.map(result => [result.name, result.level]))
}

function atInfoLevel(log: Log): Pick<Log, 'error' | 'warn' | 'info'> {
  const info = log.info.bind(log)
  return { error: info, warn: info, info }
}

/** Runs `work` with what the checks depend on, for a command. */
export async function withDoctorDeps<Result>(
  config: Config,
  work: (deps: DoctorDeps) => Promise<Result>,
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
      publicSmtpPort,
    })
  } finally {
    await database.close()
  }
}

/** One for each host: the provider itself is healthy when one of several is. */
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
