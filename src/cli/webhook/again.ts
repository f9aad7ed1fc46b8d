import { systemClock } from '../../base/clock.ts'
import { UsageError } from '../../base/operator-error.ts'
import { eventTypes, isEventType } from '../../events/event-types.ts'
import { replayEvents } from '../../events/webhooks/deliveries/replay.ts'
import { recordOperatorEntry, retryByOperator } from '../../events/webhooks/operator.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { time, webhookId } from '../values.ts'
import { requireWebhook } from './state.ts'

export const retry = defineCommand({
  name: 'webhook retry',
  summary: 'Make the deliveries that wait for another attempt now',
  arguments: { id: webhookId },
  async run({ id }, { env }) {
    const retried = await withDatabase(env, async db =>
      retryByOperator(db, currentOperator(env), await requireWebhook(db, id)),
    )
    return { json: { id, retried }, text: `Due now: ${deliveries(retried)}.` }
  },
})

export const replay = defineCommand({
  name: 'webhook replay',
  summary: 'Deliver events of a time again, with the same webhook-id',
  details: 'Without --all only those are delivered again whose last attempt failed for good.',
  arguments: { id: webhookId },
  options: {
    from: { ...time, description: 'events recorded at this time or later', required: true },
    to: { ...time, description: 'events recorded before this time; without it until now' },
    types: { placeholder: 'A,B', description: 'only these types; without it all of the webhook', read: readTypes },
    all: { description: 'also events that were delivered' },
  },
  async run({ id, from, to, types, all }, { env }) {
    const range = { from, to: to ?? systemClock.now(), types: types ?? null, onlyFailed: !all }
    if (range.from >= range.to) throw new UsageError('--from is not before --to')
    const operator = currentOperator(env)
    const replayed = await withDatabase(env, async db => {
      const webhook = await requireWebhook(db, id)
      let count = 0
      for (let after: string | null | undefined; after !== null; ) {
        const result = await replayEvents(
          { db, clock: systemClock },
          webhook,
          { ...range, cursor: after },
          (tx, rows) => recordOperatorEntry(tx, operator, webhook, 'webhook.replay', { replayed: rows, all }),
        )
        count += result.replayed
        after = result.next_cursor
      }
      return count
    })
    return { json: { id, replayed }, text: `Delivered again now: ${deliveries(replayed)}.` }
  },
})

function deliveries(count: number): string {
  return count === 1 ? '1 delivery' : `${count} deliveries`
}

function readTypes(text: string) {
  return text.split(',').map(part => {
    const type = part.trim()
    if (!isEventType(type))
      throw new UsageError(`"${type}" is not a type of events; there are ${eventTypes.join(', ')}`)
    return type
  })
}
