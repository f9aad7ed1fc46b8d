import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dayMs, minuteMs, plusMs } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { settleDispatch } from '../../../src/events/webhooks/dispatch/settlement.ts'
import { selectAnyWebhook } from '../../../src/events/webhooks/table.ts'
import { expectConditionalChange } from '../../harness/conditional-change.ts'
import { until } from '../../harness/until.ts'
import { openWebhookFixtures, type WebhookFixtures } from './fixtures.ts'

let fixtures: WebhookFixtures

beforeAll(async () => {
  fixtures = await openWebhookFixtures()
  fixtures.startDispatcher()
})
afterAll(() => fixtures.close())

/** A webhook as the API shows it. */
const read = async (id: string) => (await fixtures.server.call('GET', `/v1/webhooks/${id}`)).json
/** The deliveries of a webhook, the latest first. */
const deliveriesOf = async (id: string) =>
  (await fixtures.server.call('GET', `/v1/webhooks/${id}/deliveries`)).json.data
const remove = (id: string) => fixtures.server.call('DELETE', `/v1/webhooks/${id}`)
/** Makes what waits for another attempt due now: the package that verifies takes no signature of another time. */
const makeDue = async (id: string) =>
  fixtures.db
    .updateTable('webhook_deliveries')
    .set({ next_at: fixtures.server.clock.now() })
    .where('webhook_id', '=', id as Id<'whk'>)
    .where('next_at', 'is not', null)
    .execute()
const failSince = async (id: string, ms: number) =>
  fixtures.db
    .updateTable('webhooks')
    .set({ failing_since: plusMs(fixtures.server.clock.now(), -ms) })
    .where('id', '=', id as Id<'whk'>)
    .execute()
/** Are the owners to get an email that it is disabled? */
const isNoticeOwed = async (id: string) => (await selectAnyWebhook(fixtures.db, id as Id<'whk'>))?.notice_due_at != null
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

test('repeats what failed by its schedule, with the same webhook-id and body, until it succeeds', async () => {
  let status = 500
  const receiver = fixtures.newReceiver('again.test', () => new Response('busy', { status }))
  const id = await fixtures.newWebhook(receiver)
  const [event] = await fixtures.append(1)
  await until(async () => (await read(id)).status === 'failing')
  const [failed] = await deliveriesOf(id)
  expect(failed).toMatchObject({
    event_id: event,
    attempt: 1,
    status: 'retrying',
    http_status: 500,
    error: 'HTTP 500',
    response: 'busy',
  })
  const waitMs = Date.parse(failed.next_at) - Date.parse(failed.at)
  expect(waitMs).toBeGreaterThanOrEqual(4500)
  expect(waitMs).toBeLessThanOrEqual(5500)
  expect(receiver.deliveries.length).toBe(1)

  fixtures.server.clock.forward(6000)
  await receiver.received(2)
  status = 204
  await until(async () => (await deliveriesOf(id))[0].attempt === 2)
  await makeDue(id)
  const [first, second, third] = await receiver.received(3)
  expect([second?.id, third?.id]).toEqual([event, event] as string[])
  expect(third?.event).toEqual(first?.event)
  expect(Number(second?.headers.get('webhook-timestamp'))).toBeGreaterThan(
    Number(first?.headers.get('webhook-timestamp')) + 4,
  )
  const settled = await until(async () => {
    const [delivery] = await deliveriesOf(id)
    return delivery.status === 'delivered' && delivery
  })
  expect(settled).toMatchObject({ id: failed.id, attempt: 3, next_at: null, error: null })
  expect(await read(id)).toMatchObject({ status: 'active', failing_since: null })
  await remove(id)
})

test('waits as long as the receiver asks for with 429 and 503, up to an hour', async () => {
  const receiver = fixtures.newReceiver(
    'slower.test',
    () => new Response('', { status: 429, headers: { 'retry-after': '120' } }),
  )
  const id = await fixtures.newWebhook(receiver)
  await fixtures.append(1)
  const [delivery] = await until(async () => {
    const found = await deliveriesOf(id)
    return found.length === 1 && found
  })
  expect(Date.parse(delivery.next_at) - Date.parse(delivery.at)).toBe(120_000)
  await remove(id)
})

test('does not follow a redirect', async () => {
  const other = fixtures.newReceiver('elsewhere.test')
  const receiver = fixtures.newReceiver('moved.test', () => Response.redirect(`${other.url}/hook`, 307))
  const id = await fixtures.newWebhook(receiver)
  await fixtures.append(1)
  const [delivery] = await until(async () => {
    const found = await deliveriesOf(id)
    return found.length === 1 && found
  })
  expect(delivery).toMatchObject({
    status: 'retrying',
    http_status: 307,
    error: 'HTTP 307: redirects are not followed',
  })
  expect(other.deliveries.length + other.unverified.length).toBe(0)
  await remove(id)
})

test('a change can depend on what its caller read', async () => {
  const id = await fixtures.newWebhook(fixtures.newReceiver('read'))
  await expectConditionalChange(fixtures.server, `/v1/webhooks/${id}`, [
    { description: 'First' },
    { description: 'Second' },
  ])
  await remove(id)
})

test('a change to what a webhook is already changes nothing, its headers included', async () => {
  const id = await fixtures.newWebhook(fixtures.newReceiver('same'))
  const { url, types } = await read(id)
  const change = async (json: object) =>
    (await fixtures.server.call('PATCH', `/v1/webhooks/${id}`, { json })).json.updated_at
  const wanted = { url, types, headers: { 'X-Token': 'one' }, description: 'Same', mailbox_ids: [] }
  const entries = async () =>
    (await fixtures.db.selectFrom('audit_log').select('action').where('subject', '=', id).execute()).length
  const saved = [await change(wanted), await entries()]
  expect([await change({ ...wanted, enabled: true }), await entries()]).toEqual(saved)
  const disabled = [await change({ enabled: false }), await entries()]
  expect(disabled).not.toEqual(saved)
  expect([await change({ enabled: false }), await entries()]).toEqual(disabled)
  const headers = { 'X-Token': 'two' }
  expect([await change({ headers }), await entries()]).not.toEqual(disabled)
  await remove(id)
})

test('410 disables; enabling goes on with the event that was refused', async () => {
  let status = 410
  const receiver = fixtures.newReceiver('gone.test', () => new Response('', { status }))
  const id = await fixtures.newWebhook(receiver)
  const [event] = await fixtures.append(1)
  await until(async () => (await read(id)).status === 'disabled')
  expect(await read(id)).toMatchObject({ disabled_reason: 'gone' })
  const audit = await fixtures.db.selectFrom('audit_log').selectAll().where('subject', '=', id).execute()
  expect(audit.map(entry => [entry.actor, entry.action])).toContainEqual(['mailroom', 'webhook.disable'])
  const told = await fixtures.db.selectFrom('events').selectAll().where('type', '=', 'webhook.disabled').execute()
  expect(told.map(row => JSON.parse(row.data))).toContainEqual(
    expect.objectContaining({ webhook_id: id, reason: 'gone' }),
  )
  expect(await isNoticeOwed(id)).toBe(true)

  const [missed] = await fixtures.append(1)
  await Bun.sleep(400)
  expect(receiver.deliveries.length).toBe(1)
  const retry = await call('POST', `/v1/webhooks/${id}/replay`, { json: { from: '2026-01-01T00:00:00Z', only: 'all' } })
  expect([retry.status, retry.json.error.code]).toEqual([409, 'webhook_disabled'])
  status = 200
  fixtures.server.clock.forward(6000)
  await call('PATCH', `/v1/webhooks/${id}`, { json: { enabled: true } })
  expect(await isNoticeOwed(id)).toBe(false)
  const deliveries = await receiver.received(3)
  expect(
    deliveries
      .slice(1)
      .map(delivery => delivery.id)
      .toSorted(),
  ).toEqual([event, missed].toSorted() as string[])
  await remove(id)
})

test('five days without a success disable it', async () => {
  const receiver = fixtures.newReceiver('dead.test', () => new Response('', { status: 500 }))
  const id = await fixtures.newWebhook(receiver)
  await fixtures.append(1)
  await until(async () => (await read(id)).status === 'failing')
  await failSince(id, 5 * dayMs - minuteMs)
  await makeDue(id)
  await receiver.received(2)
  await until(async () => (await deliveriesOf(id))[0].attempt === 2)
  expect((await read(id)).status).toBe('failing')
  await failSince(id, 5 * dayMs)
  await makeDue(id)
  await until(async () => (await read(id)).status === 'disabled')
  expect(await read(id)).toMatchObject({ disabled_reason: 'failing' })
  expect(await isNoticeOwed(id)).toBe(true)
  await remove(id)
})

test('both secrets sign while the old one is in its grace', async () => {
  const receiver = fixtures.newReceiver('rotated.test')
  const id = await fixtures.newWebhook(receiver)
  const [oldSecret = ''] = receiver.secrets
  // The worker has just read the webhook.
  await fixtures.append(1)
  await receiver.received(1)
  const rotated = await call('POST', `/v1/webhooks/${id}/rotate-secret`, { json: { grace_seconds: 60 } })
  const { secret } = rotated.json
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  await fixtures.append(1)
  const during = (await receiver.received(2)).at(-1)
  expect(during?.headers.get('webhook-signature')?.split(' ').length).toBe(2)
  receiver.secrets = [secret]
  await fixtures.append(1)
  await receiver.received(3)
  fixtures.server.clock.forward(61_000)
  await fixtures.append(1)
  const after = (await receiver.received(4)).at(-1)
  expect(after?.headers.get('webhook-signature')?.split(' ').length).toBe(1)
  receiver.secrets = [oldSecret]
  await fixtures.append(1)
  await until(() => receiver.unverified.length === 1)
  await remove(id)
})

test('at most four are in flight at a webhook', async () => {
  const receiver = fixtures.newReceiver('slow.test', async () => {
    await Bun.sleep(100)
    return new Response('')
  })
  const id = await fixtures.newWebhook(receiver)
  await fixtures.append(16)
  await receiver.received(16)
  expect(receiver.mostOpen).toBe(4)
  await remove(id)
})

test('whoever made it must still be allowed to see what is delivered', async () => {
  const receiver = fixtures.newReceiver('maker.test')
  const { id: keyId, key } = await fixtures.server.newKey({
    scopes: ['webhooks:write', 'webhooks:read', 'suppressions:read', 'brands:read'],
  })
  const id = await fixtures.newWebhook(receiver, { types: ['suppression.created', 'brand.paused'] }, key)
  await fixtures.append(1)
  await receiver.received(1)
  await fixtures.db
    .updateTable('api_keys')
    .set({ scopes: 'webhooks:write brands:read' })
    .where('id', '=', keyId)
    .execute()
  await Bun.sleep(600)
  await fixtures.append(1)
  const [allowed] = await fixtures.append(1, { type: 'brand.paused' })
  expect((await receiver.received(2)).at(-1)?.id).toBe(allowed ?? '')

  await fixtures.db
    .updateTable('api_keys')
    .set({ revoked_at: fixtures.server.clock.now() })
    .where('id', '=', keyId)
    .execute()
  await Bun.sleep(600)
  await fixtures.append(1, { type: 'brand.paused' })
  await until(async () => (await read(id)).status === 'disabled')
  expect(await read(id)).toMatchObject({ disabled_reason: 'not_allowed' })
  await Bun.sleep(300)
  expect(receiver.deliveries.length).toBe(2)

  // Whoever enables it answers for it from then on, and gets what waited.
  await call('PATCH', `/v1/webhooks/${id}`, { json: { enabled: true } })
  await receiver.received(3)
  await remove(id)
})

test('a key may only have types delivered that it may see, and those are named', async () => {
  const { key } = await fixtures.server.newKey({ scopes: ['webhooks:write'] })
  const refused = await call('POST', '/v1/webhooks', {
    key,
    json: { url: 'https://once.test/', types: ['message.received'] },
  })
  expect([refused.status, refused.json.error]).toEqual([
    403,
    expect.objectContaining({ code: 'insufficient_scope', param: 'types', reason: 'inbox:read' }),
  ])
  const unknown = await call('POST', '/v1/webhooks', {
    json: { url: 'https://once.test/', types: ['message.received', 'mail.in'] },
  })
  expect([unknown.status, unknown.json.error.param]).toEqual([400, 'types[1]'])
  expect(unknown.json.error.message).toContain('"mail.in"')
})

test('replays past events with the same webhook-id: those that failed for good, or all', async () => {
  let status = 200
  const receiver = fixtures.newReceiver('replay.test', () => new Response('', { status }))
  await Bun.sleep(10)
  const from = new Date().toISOString()
  const id = await fixtures.newWebhook(receiver)
  const delivered = await fixtures.append(3)
  await receiver.received(3)
  status = 500
  const [failed] = await fixtures.append(1)
  await receiver.received(4)
  await until(async () => (await deliveriesOf(id)).length === 4)
  await fixtures.db
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', next_at: null })
    .where('event_id', '=', failed as Id<'evt'>)
    .execute()
  status = 200
  const onlyFailed = await call('POST', `/v1/webhooks/${id}/replay`, { json: { from, only: 'failed' } })
  expect(onlyFailed.json).toEqual({ replayed: 1, next_cursor: null })
  expect((await receiver.received(5)).at(-1)?.id).toBe(failed ?? '')
  const isAllDelivered = () =>
    until(async () => (await deliveriesOf(id)).every((row: { status: string }) => row.status === 'delivered'))
  await isAllDelivered()
  const all = await call('POST', `/v1/webhooks/${id}/replay`, { json: { from, only: 'all' } })
  expect(all.json).toEqual({ replayed: 4, next_cursor: null })
  const again = (await receiver.received(9)).slice(5).map(delivery => delivery.id)
  expect(again.toSorted()).toEqual([...delivered, failed].toSorted() as string[])

  // What is still to be written of an attempt would be taken for the answer to the retry.
  await isAllDelivered()
  const [last] = await deliveriesOf(id)
  await call('POST', `/v1/webhooks/${id}/deliveries/${last.id}/retry`)
  expect((await receiver.received(10)).at(-1)?.id).toBe(last.event_id)
  await remove(id)
})

test('a test is answered with what came back', async () => {
  const receiver = fixtures.newReceiver('try.test', () => new Response('hello', { status: 202 }))
  const id = await fixtures.newWebhook(receiver, { enabled: false })
  const { json } = await call('POST', `/v1/webhooks/${id}/test`)
  expect(json).toMatchObject({ is_delivered: true, http_status: 202, response: 'hello', error: null })
  const [delivery] = receiver.deliveries
  expect(delivery).toMatchObject({ id: json.event_id, event: { type: 'webhook.test', data: { webhook_id: id } } })
  await receiver.close()
  const away = (await call('POST', `/v1/webhooks/${id}/test`)).json
  expect(away).toMatchObject({ is_delivered: false, http_status: null, response: null })
  expect(away.error).toMatch(/connect|refused/i)
  await remove(id)
})

test('secrets and headers are stored sealed, and shown never again', async () => {
  const receiver = fixtures.newReceiver('sealed.test')
  const id = await fixtures.newWebhook(receiver, { headers: { 'X-Token': 'of-the-receiver' }, enabled: false })
  const row = JSON.stringify(
    await fixtures.db
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', id as Id<'whk'>)
      .execute(),
  )
  const [secret = ''] = receiver.secrets
  for (const text of [secret.slice(6), 'of-the-receiver', 'X-Token']) expect(row).not.toContain(text)
  const shown = JSON.stringify(await read(id))
  for (const text of [secret.slice(6, 40), 'of-the-receiver', 'X-Token']) expect(shown).not.toContain(text)
  const repeated = await call('POST', '/v1/webhooks', {
    json: { url: receiver.url, types: ['brand.paused'] },
    headers: { 'idempotency-key': 'one' },
  })
  expect(repeated.json.error.code).toBe('idempotency_not_supported')
  await remove(id)
})

test('an organization has at most 20 webhooks', async () => {
  const receiver = fixtures.newReceiver('many.test')
  const body = { types: ['brand.paused'], enabled: false }
  const { data } = (await call('GET', '/v1/webhooks')).json
  const ids = await Promise.all(Array.from({ length: 20 - data.length }, () => fixtures.newWebhook(receiver, body)))
  const refused = await call('POST', '/v1/webhooks', { json: { url: receiver.url, ...body } })
  expect([refused.status, refused.json.error.code]).toEqual([422, 'too_many_webhooks'])
  await Promise.all(ids.map(remove))
})

test('several processes share the webhooks: each event once, and no more than four in flight in all', async () => {
  const more = [fixtures.startDispatcher(), fixtures.startDispatcher()]
  const receiver = fixtures.newReceiver('shared-work.test', async () => {
    await Bun.sleep(20)
    return new Response('')
  })
  const id = await fixtures.newWebhook(receiver)
  const expected: string[] = []
  for (let i = 0; i < 5; i++) {
    expected.push(...(await fixtures.append(6)))
    await Bun.sleep(100)
  }
  await receiver.received(expected.length)
  await Bun.sleep(300)
  expect(receiver.deliveries.map(delivery => delivery.id).toSorted()).toEqual(expected.toSorted())
  expect(receiver.mostOpen).toBeLessThanOrEqual(4)
  await Promise.all(more.map(dispatcher => dispatcher.stop()))
  await remove(id)
})

test('who lost the lease writes nothing', async () => {
  const receiver = fixtures.newReceiver('fenced.test')
  const id = (await fixtures.newWebhook(receiver, { types: ['brand.resumed'] })) as Id<'whk'>
  const lease = 'a'.repeat(26)
  await fixtures.db
    .updateTable('webhooks')
    .set({ lease, leased_until: plusMs(fixtures.server.clock.now(), minuteMs) })
    .where('id', '=', id)
    .execute()
  const deps = { db: fixtures.db, clock: fixtures.server.clock }
  const settlement = { webhookId: id, outcomes: [], readThrough: 1_000_000 }
  expect(await settleDispatch(deps, 'b'.repeat(26), settlement)).toEqual({ kind: 'lost' })
  expect((await selectAnyWebhook(fixtures.db, id))?.read_through).toBeLessThan(1_000_000)
  expect(await settleDispatch(deps, lease, settlement)).toMatchObject({ kind: 'written' })
  await remove(id)
  expect(await settleDispatch(deps, lease, settlement)).toEqual({ kind: 'lost' })
})
