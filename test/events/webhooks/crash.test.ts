import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DatabaseProxy, startDatabaseProxy } from '../../harness/database-proxy.ts'
import { until } from '../../harness/until.ts'
import { startWebhookProcess, type WebhookProcess } from '../../harness/webhook-process.ts'
import type { WebhookReceiver } from '../../harness/webhook-receiver.ts'
import { openWebhookFixtures, type WebhookFixtures } from './fixtures.ts'

/** `MAILROOM_TEST_LONG=1`: fifty kills instead of four. */
const kills = process.env['MAILROOM_TEST_LONG'] === '1' ? 50 : 4
const eventsPerKill = 12
const leaseMs = 900

let fixtures: WebhookFixtures
let caFile: string
const started: WebhookProcess[] = []

beforeAll(async () => {
  fixtures = await openWebhookFixtures()
  caFile = join(fixtures.server.varFolder, 'ca.pem')
  writeFileSync(caFile, fixtures.authority.root)
})
afterAll(async () => {
  await Promise.all(started.map(one => one.kill()))
  await fixtures.close()
})

async function start(databaseUrl = fixtures.server.database.url): Promise<WebhookProcess> {
  const { port: dnsPort } = fixtures.dns.endpoint
  const running = await startWebhookProcess({ databaseUrl, dnsPort, caFile, leaseMs })
  started.push(running)
  return running
}

/** The delivery rows of a webhook that are not at their end. */
async function countUnfinished(id: string): Promise<number> {
  const { data } = (await fixtures.server.call('GET', `/v1/webhooks/${id}/deliveries?status=retrying`)).json
  return data.length
}

function distinct(receiver: WebhookReceiver): ReadonlySet<string> {
  return new Set(receiver.deliveries.map(delivery => delivery.id))
}

test(`kill -9 of who delivers, ${kills} times, loses nothing; a repetition has the same webhook-id`, async () => {
  const seen = new Set<string>()
  const receiver = fixtures.newReceiver('crash.test', async ({ id }) => {
    await Bun.sleep(5)
    // Some have to be tried again, once.
    const isRefused = !seen.has(id) && seen.size % 7 === 6
    seen.add(id)
    return new Response('', { status: isRefused ? 503 : 200 })
  })
  const id = await fixtures.newWebhook(receiver)
  const expected: string[] = []
  let running = [await start(), await start()]
  for (let i = 0; i < kills; i++) {
    expected.push(...(await fixtures.append(eventsPerKill)))
    await receiver.received(receiver.deliveries.length + 1 + (i % 5))
    const [victim, other] = running
    await victim?.kill()
    running = [...(other ? [other] : []), await start()]
  }
  await until(() => distinct(receiver).size === expected.length, {
    what: 'all events came',
    withinMs: 40_000,
    details: () => `${distinct(receiver).size} of ${expected.length}`,
  })
  const first = Map.groupBy(receiver.deliveries, delivery => delivery.id)
  for (const copies of first.values()) expect(new Set(copies.map(copy => JSON.stringify(copy.event))).size).toBe(1)
  expect([...first.keys()].toSorted()).toEqual(expected.toSorted())
  // What was answered 503 last is repeated after 5 s.
  await until(async () => (await countUnfinished(id)) === 0, { withinMs: 30_000 })
  process.stdout.write(`${expected.length} events, ${receiver.deliveries.length} deliveries, ${kills} kills\n`)
  await Promise.all(running.map(one => one.kill()))
  await fixtures.server.call('DELETE', `/v1/webhooks/${id}`)
}, 600_000)

test('a database that goes away and comes back loses nothing', async () => {
  const proxy: DatabaseProxy = await startDatabaseProxy(fixtures.server.database.url)
  const url = new URL(proxy.url)
  url.searchParams.set('timeoutMs', '1000')
  const receiver = fixtures.newReceiver('away.test', async () => {
    await Bun.sleep(10)
    return new Response('')
  })
  const id = await fixtures.newWebhook(receiver)
  const running = await start(url.href)
  try {
    const expected = [...(await fixtures.append(40))]
    await receiver.received(5)
    proxy.silence('both')
    expected.push(...(await fixtures.append(20)))
    await Bun.sleep(1500)
    proxy.forget()
    await until(() => distinct(receiver).size === expected.length, {
      what: 'all events came',
      withinMs: 40_000,
      details: () => `${distinct(receiver).size} of ${expected.length}`,
    })
    expect([...distinct(receiver)].toSorted()).toEqual(expected.toSorted())
  } finally {
    await running.kill()
    proxy.close()
    await fixtures.server.call('DELETE', `/v1/webhooks/${id}`)
  }
}, 120_000)
