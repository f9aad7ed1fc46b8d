import { afterAll, beforeAll, expect, test } from 'bun:test'
import { taskSessionRoutes } from '../../../src/accounts/tasks/session-routes.ts'
import { openOperatorTasks, type TaskControl } from '../../../src/accounts/tasks/tasks.ts'
import { type Instant, plusMs, systemClock } from '../../../src/base/clock.ts'
import { openLog } from '../../../src/base/observability/log.ts'
import { CommandError } from '../../../src/base/operator-error.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type SessionClient, sessionClient } from '../../harness/session-client.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
let client: SessionClient
let lateBy = 0
const clock = { now: (): Instant => plusMs(systemClock.now(), lateBy) }

beforeAll(async () => {
  database = await freshDatabase(4)
  client = sessionClient([taskSessionRoutes({ db: database.db, clock })])
})
afterAll(() => database.close())

const open = () => openOperatorTasks({ db: database.db, clock, log: openLog('silent') })
const task = (run: (control: TaskControl) => Promise<object>) =>
  ({ kind: 'doctor', subject: 'quick', actor: 'olga@example.com', run }) as const
const read = async (id: string) => (await client.get(`/app/api/instance/tasks/${id}`)).json
const ended = (id: string) => until(async () => (await read(id)).state !== 'running', { withinMs: 10_000 })

test('a task shows its progress in every process, and only one runs at a time', async () => {
  const [one, other] = [open(), open()]
  const { promise, resolve } = Promise.withResolvers<void>()
  const id = await one.start(
    task(async ({ report }) => {
      report('files', 3, 10)
      await promise
      return { findings: 2 }
    }),
  )
  await until(async () => (await read(id)).progress !== null, { withinMs: 10_000 })
  expect(await read(id)).toMatchObject({ state: 'running', progress: { what: 'files', count: 3, of: 10 } })
  await expect(other.start(task(async () => ({})))).rejects.toThrow('only one runs at a time')
  resolve()
  await ended(id)
  expect(await read(id)).toMatchObject({ state: 'done', result: { findings: 2 }, actor: 'olga@example.com' })
  const next = await other.start(task(async () => ({})))
  await ended(next)
  expect((await client.get('/app/api/instance/tasks')).json.data.map((row: { id: string }) => row.id)).toEqual([
    next,
    id,
  ])
})

test('a task that fails says why, one whose process stops or dies says so', async () => {
  const tasks = open()
  const failed = await tasks.start(task(() => Promise.reject(new CommandError('There is no backup.'))))
  await ended(failed)
  expect(await read(failed)).toMatchObject({ state: 'failed', error: 'There is no backup.', result: null })
  const stopped = await tasks.start(task(() => new Promise(() => undefined)))
  await tasks.stop()
  expect(await read(stopped)).toMatchObject({ state: 'failed', error: expect.stringContaining('was stopped') })
  await expect(tasks.start(task(async () => ({})))).rejects.toThrow('is stopping')

  // A process that is killed records nothing.
  await database.db
    .updateTable('operator_tasks')
    .set({ finished_at: null, error: null })
    .where('id', '=', stopped)
    .execute()
  expect((await read(stopped)).state).toBe('running')
  lateBy = 120_000
  expect((await read(stopped)).state).toBe('lost')
})

test('only operators see tasks', async () => {
  expect((await client.get('/app/api/instance/tasks', 'person')).status).toBe(403)
  expect((await client.get('/app/api/instance/tasks', 'nobody')).status).toBe(401)
  expect((await client.get('/app/api/instance/tasks/tsk_x')).status).toBe(404)
})
