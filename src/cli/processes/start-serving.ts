import type { Config } from '../../base/config/config.ts'
import { processCount } from '../../base/config/processes.ts'
import { readMachineLimits } from '../../base/machine-limits.ts'
import { type RunningProcesses, type ServingOptions, serveInProcesses } from './parent.ts'

/** Serves in this process or in several, as the settings say. Gives the exit status where one of several cannot start. */
export async function startServing(config: Config, options: ServingOptions): Promise<RunningProcesses | number> {
  const count = processCount(config, readMachineLimits())
  return count === 1 ? await serveAlone(config) : await serveInProcesses(config, count, options)
}

/** Serves in this process. */
async function serveAlone(config: Config): Promise<RunningProcesses> {
  // Not needed by --help, nor where a setting is wrong.
  const { serve } = await import('../../main.ts')
  const { http, smtp, submission, stop } = await serve(config)
  return {
    http,
    smtp,
    submission,
    stop,
    isHealthy: () => answersHealth(http),
    failed: new Promise<never>(() => undefined),
  }
}

/** Does our HTTP server answer? A process without one counts as healthy while it runs. */
async function answersHealth(http: string | null): Promise<boolean> {
  return http === null || (await fetch(`${http}/health`)).ok
}
