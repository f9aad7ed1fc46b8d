import { systemClock } from '../../base/clock.ts'
import { openLog } from '../../base/observability/log.ts'
import { CommandError } from '../../base/operator-error.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { openRetention } from '../../retention/retention.ts'
import { defineCommand } from '../command.ts'
import { readCommandConfig, withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'

/** The pause after each step, as a multiple of its duration: mail has the database to itself a third of the time. */
const pauseFactor = 0.5
const maxBusyTries = 30
const busyWaitMs = 1000

export const run = defineCommand({
  name: 'retention run',
  summary: 'Delete now what has expired, instead of a little each minute',
  details: 'serve deletes it too, a little each minute.',
  async run(_values, { env }) {
    const settings = readCommandConfig(env)
    const progress = openProgressLine('items removed')
    const totals = new Map<string, { items: number; bytes: number }>()
    let items = 0
    await withDatabase(env, async db => {
      const clock = systemClock
      const log = openLog('silent')
      const retention = openRetention({ db, clock, log, blobs: mysqlBlobs(db, clock), settings })
      const runRound = () =>
        retention.runRound({
          pause: tookMs => Bun.sleep(pauseFactor * tookMs),
          isStopping: () => false,
          onStep(name, step) {
            const total = totals.get(name) ?? { items: 0, bytes: 0 }
            totals.set(name, { items: total.items + step.items, bytes: total.bytes + step.bytes })
            items += step.items
            progress.report(items)
          },
        })
      for (let tries = 0, outcome = await runRound(); outcome !== 'done'; outcome = await runRound()) {
        if (outcome === 'more') continue
        if (++tries > maxBusyTries) throw new CommandError('Another process is deleting what has expired.')
        await Bun.sleep(busyWaitMs)
      }
    }).finally(() => progress.end())
    const lines = [...totals].map(([name, total]) => `${name}: removed ${total.items} (${total.bytes} bytes).`)
    return {
      json: { removed: Object.fromEntries(totals) },
      text: items === 0 ? 'There was nothing to remove.' : lines.join('\n'),
    }
  },
})
