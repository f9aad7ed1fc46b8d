import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../../harness/until.ts'
import { openWebhookFixtures, type WebhookFixtures } from './fixtures.ts'

let fixtures: WebhookFixtures

beforeAll(async () => {
  fixtures = await openWebhookFixtures()
  fixtures.startDispatcher()
})
afterAll(() => fixtures.close())

const call = (...args: Parameters<WebhookFixtures['server']['call']>) => fixtures.server.call(...args)

test('delivers each event once, signed, with the same JSON as the feed', async () => {
  const receiver = fixtures.newReceiver('once.test')
  const id = await fixtures.newWebhook(receiver, { headers: { Authorization: 'Bearer of-the-receiver' } })
  const events = await fixtures.append(20)
  const deliveries = await receiver.received(20)
  await Bun.sleep(300)
  expect(deliveries.map(delivery => delivery.id).toSorted()).toEqual([...events].toSorted())
  expect(deliveries[0]?.headers.get('authorization')).toBe('Bearer of-the-receiver')
  expect(deliveries[0]?.host).toBe(`once.test:${receiver.port}`)
  expect(deliveries[0]?.event).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    type: 'suppression.created',
    brand_id: null,
    data: { email: expect.any(String) },
  })
  expect(receiver.unverified).toEqual([])
  const listed = await until(async () => {
    const { json } = await call('GET', `/v1/webhooks/${id}/deliveries?limit=50`)
    return json.data.length === 20 && json.data
  })
  expect(listed[0]).toMatchObject({
    status: 'delivered',
    attempt: 1,
    http_status: 200,
    response: 'thanks',
    next_at: null,
  })
  const webhook = (await call('GET', `/v1/webhooks/${id}`)).json
  expect(webhook).toMatchObject({ status: 'active', failing_since: null })
  expect(webhook.last_success_at).not.toBeNull()
  await call('DELETE', `/v1/webhooks/${id}`)
})
