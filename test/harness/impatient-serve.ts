import { readConfig } from '../../src/base/config/config.ts'
import { complain, describeFailure } from '../../src/cli/command/failure.ts'
import { workerCommand } from '../../src/cli/processes/messages.ts'
import { serveInProcesses } from '../../src/cli/processes/parent.ts'
import { runWorker } from '../../src/cli/processes/worker.ts'
import { untilShutdownSignal } from '../../src/cli/signals.ts'

/** `./mailroom serve` with two processes, which waits for less time before it acts on one that hangs or does not start. */
const impatient = { firstRestartMs: 50, maxRestartMs: 100, steadyMs: 60_000, lookMs: 200, hungMs: 3000 }

async function serve(): Promise<number> {
  const shutdown = untilShutdownSignal()
  const serving = await serveInProcesses(readConfig(process.env), 2, { env: process.env, shutdown, times: impatient })
  if (typeof serving === 'number') return serving
  const failed = await Promise.race([serving.failed, shutdown])
  await serving.stop()
  return failed ?? 0
}

const [name, order] = process.argv.slice(2)
const running = name === workerCommand ? runWorker(order) : serve()
process.exit(
  await running.catch(error => {
    const failure = describeFailure(error)
    if (!failure) throw error
    return complain(failure.text, failure.status)
  }),
)
