import { systemClock } from '../../base/clock.ts'
import { openLog } from '../../base/observability/log.ts'
import { CommandError } from '../../base/operator-error.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { openRetention } from '../../retention/retention.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { openProgressLine } from '../progress-line.ts'
import { readCommandConfig } from './policies.ts'

/** A third of the time, mail has the database to itself. */
const restFactor = 0.5
const busyTries = 30
const busyWaitMs = 1000

export async function runRemoval(args: readonly string[], env: Environment): Promise<CommandOutput> {
  readArguments(args, {})
  const settings = readCommandConfig(env)
  const progress = openProgressLine('items removed')
  const totals = new Map<string, { items: number; bytes: number }>()
  let items = 0
  await withDatabase(env, async db => {
    const clock = systemClock
    const log = openLog('silent')
    const retention = openRetention({ db, clock, log, blobs: mysqlBlobs(db, clock), settings })
    const round = () =>
      retention.runRound({
        pause: tookMs => Bun.sleep(restFactor * tookMs),
        isStopping: () => false,
        onStep(name, step) {
          const total = totals.get(name) ?? { items: 0, bytes: 0 }
          totals.set(name, { items: total.items + step.items, bytes: total.bytes + step.bytes })
          items += step.items
          progress.report(items)
        },
      })
    for (let waited = 0, done = await round(); done !== 'done'; done = await round()) {
      if (done === 'more') continue
      if (++waited > busyTries) throw new CommandError('Another process is removing what has had its time.')
      await Bun.sleep(busyWaitMs)
    }
  })
  progress.end()
  const removed = Object.fromEntries(totals)
  return {
    json: { removed },
    text:
      items === 0
        ? 'There was nothing to remove.'
        : [...totals].map(([name, total]) => `${name}: removed ${total.items} (${total.bytes} bytes).`).join('\n'),
  }
}
