import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { dayMs, plusMs, systemClock } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { webhookCommand } from '../../../src/cli/webhook.ts'
import { webhookChecks } from '../../../src/health/doctor/webhooks.ts'
import { openRetention } from '../../../src/retention/retention.ts'
import { outputOf } from '../../harness/command-output.ts'
import { until } from '../../harness/until.ts'
import { openWebhookFixtures, type WebhookFixtures } from './fixtures.ts'

let fixtures: WebhookFixtures

beforeAll(async () => {
  fixtures = await openWebhookFixtures()
  fixtures.startDispatcher()
})
afterAll(() => fixtures.close())

const run = (...args: string[]) =>
  outputOf(webhookCommand, args, { MAILROOM_DATABASE_URL: fixtures.server.database.url })
const deliveriesOf = async (id: string) =>
  (await fixtures.server.call('GET', `/v1/webhooks/${id}/deliveries`)).json.data

test('lists, disables, enables, retries and replays, and records who did it', async () => {
  let status = 200
  const receiver = fixtures.newReceiver('command.test', () => new Response('', { status }))
  const id = await fixtures.newWebhook(receiver)
  const [first] = await fixtures.append(1)
  await receiver.received(1)
  const { json, text } = await run('list')
  expect(json).toMatchObject([{ id, organization_id: fixtures.server.organizationId, status: 'active' }])
  expect(text).toContain(`${receiver.url}/hook`)

  await run('disable', id)
  expect((await run('list', '--org', fixtures.server.organizationId)).json).toMatchObject([
    { disabled_reason: 'operator' },
  ])
  const [second] = await fixtures.append(1)
  await Bun.sleep(300)
  expect(receiver.deliveries.length).toBe(1)
  status = 503
  await run('enable', id)
  await until(async () => (await deliveriesOf(id))[0]?.status === 'retrying')
  status = 200
  expect((await run('retry', id)).text).toBe('Due now: 1 delivery.')
  await until(async () => (await deliveriesOf(id))[0]?.status === 'delivered')
  expect(receiver.deliveries.map(delivery => delivery.id)).toEqual([first, second, second] as string[])

  const yesterday = new Date(Date.now() - dayMs).toISOString()
  expect((await run('replay', id, '--from', yesterday)).json).toEqual({ id, replayed: 0 })
  expect((await run('replay', id, '--from', yesterday, '--all', '--types', 'suppression.created')).json).toEqual({
    id,
    replayed: 2,
  })
  await receiver.received(5)
  const audit = await fixtures.db
    .selectFrom('audit_log')
    .select('action')
    .where('subject', '=', id)
    .orderBy('id')
    .execute()
  expect(audit.map(entry => entry.action)).toEqual([
    'webhook.create',
    'webhook.disable',
    'webhook.enable',
    'webhook.retry',
    'webhook.replay',
    'webhook.replay',
  ])
  await fixtures.server.call('DELETE', `/v1/webhooks/${id}`)
})

test.each([
  [['disable', 'whk_00000000000000000000000000'], 'There is no webhook'],
  [['replay', 'whk_00000000000000000000000000'], '--from'],
  [['disable', 'eml_1'], 'is not the id of a webhook'],
  [
    ['replay', 'whk_00000000000000000000000000', '--from', '2026-01-01T00:00:00Z', '--types', 'mail.in'],
    'is not a type of events',
  ],
])('%p is refused', async (args, message) => {
  await expect(run(...args)).rejects.toThrow(message)
})

test('doctor warns of webhooks that were disabled unasked, and of those that nobody delivers to', async () => {
  const deps = {
    db: fixtures.db,
    clock: fixtures.server.clock,
    config: { roles: ['http'] },
  } as unknown as Parameters<(typeof webhookChecks)[0]['run']>[0]
  const check = (name: string) => webhookChecks.find(one => one.name === name)?.run(deps)
  expect(await check('webhooks_disabled')).toMatchObject({ level: 'skipped' })
  const receiver = fixtures.newReceiver('doctor.test', () => new Response('', { status: 410 }))
  const id = await fixtures.newWebhook(receiver)
  expect(await check('webhooks_role')).toMatchObject({ level: 'warning' })
  expect(await check('webhooks_disabled')).toMatchObject({ level: 'ok' })
  await fixtures.append(1)
  await until(async () => (await fixtures.server.call('GET', `/v1/webhooks/${id}`)).json.status === 'disabled')
  const finding = await check('webhooks_disabled')
  expect(finding).toMatchObject({ level: 'warning' })
  expect(finding?.seen).toContain(`${id} (gone`)
  await fixtures.server.call('DELETE', `/v1/webhooks/${id}`)
})

test('deliveries are kept for 14 days', async () => {
  const now = systemClock.now()
  const row = (i: number, days: number) => ({
    id: `whd_${String(i).padStart(26, '0')}` as Id<'whd'>,
    webhook_id: 'whk_00000000000000000000000000' as const,
    organization_id: fixtures.server.organizationId,
    brand_id: null,
    sequence: i,
    event_id: 'evt_00000000000000000000000000' as const,
    type: 'brand.paused',
    status: 'delivered' as const,
    attempt: 1,
    at: plusMs(now, -days * dayMs),
    duration_ms: 1,
    http_status: 200,
    error: null,
    response: null,
    next_at: null,
  })
  const { db } = fixtures
  await db
    .insertInto('webhook_deliveries')
    .values([row(1, 13), row(2, 15), row(3, 400)])
    .execute()
  const retention = openRetention({
    db,
    clock: systemClock,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
    blobs: {} as never,
    settings: { requestLogDays: 30, pauseWindowHours: 24 },
  })
  const control = { pause: async () => undefined, isStopping: () => false }
  while ((await retention.runRound(control)) === 'more');
  const { rows } = await sql<{ readonly sequence: number }>`SELECT sequence FROM webhook_deliveries
    WHERE webhook_id = 'whk_00000000000000000000000000' ORDER BY sequence`.execute(db)
  expect(rows.map(left => Number(left.sequence))).toEqual([1])
})
