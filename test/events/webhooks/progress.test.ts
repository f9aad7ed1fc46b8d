import { afterAll, beforeAll, expect, test } from 'bun:test'
import { toJson } from '../../../src/base/database/schema.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { readWebhookProgress } from '../../../src/events/webhooks/progress.ts'
import { updateWebhook } from '../../../src/events/webhooks/table.ts'
import { until } from '../../harness/until.ts'
import { openWebhookFixtures, type WebhookFixtures } from './fixtures.ts'

let fixtures: WebhookFixtures

beforeAll(async () => {
  fixtures = await openWebhookFixtures()
})
afterAll(() => fixtures.close())

const progressOf = async () =>
  new Map(
    (await readWebhookProgress(fixtures.db, { organizationId: fixtures.server.organizationId, brandId: null })).map(
      ({ id, ...progress }) => [id, progress],
    ),
  )

test('says what waits for each webhook of what it gets, which a dry run of a replay counts once it was delivered', async () => {
  const receiver = fixtures.newReceiver('progress.test')
  const all = await fixtures.newWebhook(receiver)
  const none = await fixtures.newWebhook(receiver, { types: ['domain.verified'] })
  const ofMailbox = await fixtures.newWebhook(receiver, { types: ['message.received', 'suppression.created'] })
  const mailboxId = newId('mbx')
  await updateWebhook(fixtures.db, ofMailbox as Id<'whk'>, { mailbox_ids: toJson([mailboxId]) })
  await fixtures.append(3)
  await fixtures.append(1, { type: 'message.received', mailboxId })
  await fixtures.append(2, { type: 'message.received', mailboxId: newId('mbx') })
  const found = await until(async () => {
    const progress = await progressOf()
    return progress.get(ofMailbox)?.waiting === 4 && progress
  })
  expect(found.get(all)).toEqual({ waiting: 3, more: false, waiting_since: expect.stringMatching(/Z$/) })
  expect(found.get(none)).toEqual({ waiting: 0, more: false, waiting_since: null })

  fixtures.startDispatcher()
  await receiver.received(7)
  await until(async () => [...(await progressOf()).values()].every(({ waiting }) => waiting === 0))
  expect(receiver.deliveries.filter(({ event }) => event.type === 'message.received')).toHaveLength(1)

  const from = new Date(Date.now() - 3_600_000).toISOString()
  const replay = (json: object) => fixtures.server.call('POST', `/v1/webhooks/${ofMailbox}/replay`, { json })
  expect((await replay({ from, only: 'all', dry_run: true })).json).toEqual({ replayed: 4, next_cursor: null })
  expect((await replay({ from, only: 'failed', dry_run: true })).json).toEqual({ replayed: 0, next_cursor: null })
  await Bun.sleep(300)
  expect(receiver.deliveries).toHaveLength(7)
  expect((await replay({ from, only: 'all' })).json).toEqual({ replayed: 4, next_cursor: null })
  await receiver.received(11)
})
