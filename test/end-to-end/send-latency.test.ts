import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

/** Measures time, and so runs alone. */
let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  relay = await startScriptedRelay()
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_SMARTHOST_CONNECTIONS: '4',
  })
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

async function sendAndArrive(): Promise<void> {
  const email = { from: 'Demo <hello@demo.test>', to: 'ann@friend.test', subject: 'Hello', text: 'Hello Ann.' }
  const { status, json } = await mailroom.api('POST', '/v1/emails', email)
  expect(status).toBe(202)
  await until(() => groupByEmail(relay.accepted).has(json.id), { what: `${json.id} at the relay` })
}

test('an email reaches the relay within 100 ms of the request on an idle system', async () => {
  await sendAndArrive()
  const times: number[] = []
  for (let i = 0; i < 11; i++) {
    // At a random phase of any polling interval: if the email were only found by polling, it would be found late.
    await Bun.sleep(290 + 20 * Math.random())
    const before = performance.now()
    await sendAndArrive()
    times.push(performance.now() - before)
  }
  const median = times.sort((a, b) => a - b)[5] ?? Number.NaN
  process.stdout.write(
    `from POST to the relay: median ${median.toFixed(1)} ms, at most ${times.at(-1)?.toFixed(1)} ms\n`,
  )
  expect(median).toBeLessThan(100)
})
