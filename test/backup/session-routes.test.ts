import { afterAll, beforeAll, expect, test } from 'bun:test'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { selectAuditEntries } from '../../src/accounts/audit/table.ts'
import { taskSessionRoutes } from '../../src/accounts/tasks/session-routes.ts'
import { type OperatorTasks, openOperatorTasks } from '../../src/accounts/tasks/tasks.ts'
import { loadManifest } from '../../src/backup/files/folder.ts'
import { backupSessionRoutes } from '../../src/backup/session-routes.ts'
import { systemClock } from '../../src/base/clock.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { type BackupSource, createBackupSource } from '../harness/backups.ts'
import { operatorEmail, type SessionClient, sessionClient } from '../harness/session-client.ts'
import { until } from '../harness/until.ts'

let store: BackupSource
let folder: string
let client: SessionClient
let tasks: OperatorTasks

const path = '/app/api/instance/backups'

beforeAll(async () => {
  store = await createBackupSource(20)
  folder = join(store.folder, 'backups')
  await store.mailroom(['backup', folder])
  const { db, url: databaseUrl } = store.database
  tasks = openOperatorTasks({ db, clock: systemClock, log: openLog('silent') })
  client = clientOf(folder)
  function clientOf(backupFolder: string | undefined) {
    const routes = backupSessionRoutes({ db, clock: systemClock, config: { backupFolder, databaseUrl }, tasks })
    return sessionClient([routes, taskSessionRoutes({ db, clock: systemClock })])
  }
}, 60_000)
afterAll(async () => {
  await tasks.stop()
  await store.close()
})

const list = async () => (await client.get(path)).json.data

async function verify(id: string) {
  const { json } = await client.post(`${path}/${id}/verify`)
  const read = async () => (await client.get(`/app/api/instance/tasks/${json.task_id}`)).json
  await until(async () => (await read()).state !== 'running', { withinMs: 60_000 })
  return await read()
}

test('lists backups, and proves one by restoring it, with progress and an audit entry', async () => {
  const [backup] = await list()
  expect(backup).toMatchObject({ encryption: 'none', is_in_folder: true, proven_at: null, damage: null })
  expect(backup.bytes).toBeGreaterThan(18_000_000)
  const task = await verify(backup.id)
  expect(task).toMatchObject({
    state: 'done',
    subject: backup.id,
    result: { whole: true, restored: true, recorded: true },
  })
  expect(task.progress.count).toBeGreaterThan(0)
  expect((await list())[0].proven_at).toEqual(expect.any(String))
  const [entry] = await selectAuditEntries(store.database.db, { action: 'backup.verify' }, { limit: 1 })
  expect(entry).toMatchObject({ actor: operatorEmail, subject: backup.id })
  expect((await client.post(`${path}/20260101T000000000Z-aaaaaa/verify`)).json.error.code).toBe('not_found')
}, 90_000)

test('says what is damaged', async () => {
  const [backup] = await list()
  const manifest = await loadManifest(folder, backup.id)
  truncateSync(join(folder, manifest.segments[0]?.name ?? ''), 100)
  const task = await verify(backup.id)
  expect(task).toMatchObject({ state: 'done', result: { whole: false, restored: false } })
  expect(task.result.damages[0]).toContain('has 100 bytes')
  expect((await list())[0].refuted_at).toEqual(expect.any(String))
}, 60_000)
