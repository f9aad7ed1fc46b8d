import { openLog } from '../../base/observability/log.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { runRetentionNow } from '../../retention/run-now.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { readCommandConfig, withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'

export const run = defineCommand({
  name: 'retention run',
  summary: 'Delete now what has expired, instead of a little each minute',
  details: 'serve deletes it too, a little each minute.',
  async run(_values, { env }) {
    const settings = readCommandConfig(env)
    const progress = openProgressLine('items removed')
    const removed = await withDatabase(env, db => {
      const operator = currentOperator(env)
      const { clock } = operator
      const deps = { db, clock, log: openLog('silent'), blobs: mysqlBlobs(db, clock), settings }
      return runRetentionNow(deps, { operator, onProgress: items => progress.report(items) })
    }).finally(() => progress.end())
    const lines = Object.entries(removed).map(
      ([name, total]) => `${name}: removed ${total.items} (${total.bytes} bytes).`,
    )
    return {
      json: { removed },
      text: lines.length === 0 ? 'There was nothing to remove.' : lines.join('\n'),
    }
  },
})
