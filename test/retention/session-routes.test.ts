import { afterAll, beforeAll, expect, test } from 'bun:test'
import { selectAuditEntries } from '../../src/accounts/audit/table.ts'
import { taskSessionRoutes } from '../../src/accounts/tasks/session-routes.ts'
import { type OperatorTasks, openOperatorTasks } from '../../src/accounts/tasks/tasks.ts'
import { dayMs, plusMs } from '../../src/base/clock.ts'
import { readConfig } from '../../src/base/config/config.ts'
import { fromJson } from '../../src/base/database/schema.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { retentionCommand } from '../../src/cli/retention.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { storageSessionRoutes } from '../../src/retention/session-routes.ts'
import { outputOf } from '../harness/command-output.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../harness/inbox.ts'
import { operatorEmail, type SessionClient, sessionClient } from '../harness/session-client.ts'
import { until } from '../harness/until.ts'

let inbox: TestInbox
let us: ReceivingDomain
let client: SessionClient
let tasks: OperatorTasks

const path = '/app/api/instance/storage'
const settings = () => ({
  MAILROOM_DATABASE_URL: inbox.server.database.url,
  MAILROOM_VAR: inbox.server.varFolder,
})

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  const { database, clock } = inbox.server
  const { db } = database
  const log = openLog('silent')
  const config = readConfig({ ...settings(), MAILROOM_ROLES: 'http' })
  tasks = openOperatorTasks({ db, clock, log })
  const routes = storageSessionRoutes({ db, clock, log, config, settings: config, tasks, blobs: mysqlBlobs(db, clock) })
  client = sessionClient([routes, taskSessionRoutes({ db, clock })])
})
afterAll(async () => {
  await tasks.stop()
  await inbox.close()
})

const command = async (...args: string[]) => (await outputOf(retentionCommand, args, settings())).json

async function run(action: string) {
  const { task_id: id } = (await client.post(`${path}/${action}`)).json
  const read = async () => (await client.get(`/app/api/instance/tasks/${id}`)).json
  await until(async () => (await read()).state !== 'running')
  return await read()
}

test('shows disks and what fills them, and sets a retention time as the command does', async () => {
  await inbox.deliver(messageOf(), `hello@${us.domain}`)
  const { json } = await client.get(path)
  expect(json.forecast.disks[0].total_bytes).toBeGreaterThan(0)
  expect(json.kinds.map((row: { kind: string }) => row.kind)).toContain('messages')
  expect(json.organizations).toMatchObject([{ blobs: 1 }])

  const scope = us.brandId
  expect((await client.post(`${path}/retention`, { scope, kind: 'spam', keep: 'days', days: 5 })).status).toBe(200)
  const listed = (await client.get(`${path}/retention`)).json
  const row = { scope, kind: 'spam', days: 5, name: null, updated_at: expect.any(String) }
  expect(listed.data).toContainEqual(row)
  expect(await command('show')).toContainEqual({ scope, kind: 'spam', days: 5 })
  const entry = async () =>
    (await selectAuditEntries(inbox.server.database.db, { action: 'retention.set' }, { limit: 1 }))[0]
  const byPerson = await entry()
  await command('set', '--brand', scope, 'spam', '5')
  const byCommand = await entry()
  expect([byPerson?.actor, byPerson?.subject]).toEqual([operatorEmail, byCommand?.subject ?? ''])
  expect(fromJson(byCommand?.detail ?? '{}')).toEqual(fromJson(byPerson?.detail ?? '{}'))
  await client.post(`${path}/retention`, { scope, kind: 'spam', keep: 'inherit' })
  expect((await client.get(`${path}/retention`)).json.data.some((row: { scope: string }) => row.scope === scope)).toBe(
    false,
  )
})

test('of two operators who set a retention time after the same reading, the later is refused', async () => {
  const set = (days: number, if_updated_at: string) =>
    client.post(`${path}/retention`, { scope: 'instance', kind: 'spam', keep: 'days', days, if_updated_at })
  const readAt = async () =>
    (await client.get(`${path}/retention`)).json.data.find(
      ({ scope, kind }: { scope: string; kind: string }) => scope === 'instance' && kind === 'spam',
    ).updated_at
  expect(await readAt()).toBeNull()
  expect((await set(11, 'never')).status).toBe(200)
  const refused = await set(12, 'never')
  expect([refused.status, refused.json.error.code]).toEqual([409, 'changed_since_read'])
  expect((await set(12, await readAt())).status).toBe(200)
  await client.post(`${path}/retention`, { scope: 'instance', kind: 'spam', keep: 'inherit' })
})

test.each([
  [{ scope: 'instance', kind: 'events', keep: 'days', days: 1 }, 'at least 7 days'],
  [{ scope: 'instance', kind: 'spam', keep: 'days' }, '`days` is absent'],
  [{ scope: 'org_00000000000000000000000000', kind: 'spam', keep: 'forever' }, 'no organization or brand'],
  [{ scope: 'x', kind: 'spam', keep: 'forever' }, 'no organization or brand'],
])('refuses %p', async (body, message) => {
  expect((await client.post(`${path}/retention`, body)).json.error.message).toContain(message)
})

test('plans what will be deleted, then deletes it, in the background', async () => {
  const { db } = inbox.server.database
  const id = await inbox.deliver(messageOf(), `hello@${us.domain}`)
  const since = plusMs(inbox.server.clock.now(), -40 * dayMs)
  const aged = { folder: 'trash', folder_since: since, indexed: 1 } as const
  await db.updateTable('messages').set(aged).where('id', '=', id).execute()
  const plan = await run('plan')
  expect(plan).toMatchObject({ state: 'done', kind: 'retention_plan', actor: operatorEmail })
  expect(plan.result.planned).toContainEqual(
    expect.objectContaining({ kind: 'trash', now: expect.objectContaining({ items: 1 }) }),
  )
  expect((await command('plan')).planned).toContainEqual(plan.result.planned[0])
  expect((await run('run')).result.removed.trash).toMatchObject({ items: 1 })
  expect((await inbox.server.call('GET', `/v1/inbox/${id}`)).status).toBe(404)
  const [entry] = await selectAuditEntries(db, { action: 'retention.run' }, { limit: 1 })
  expect(entry).toMatchObject({ actor: operatorEmail, subject: 'instance' })
})
