import { afterEach, expect, test } from 'bun:test'
import { getPriority } from 'node:os'
import { openWorkerPool, WorkerError, type WorkerPoolOptions } from '../../../src/base/concurrency/worker-pool.ts'
import { until } from '../../harness/until.ts'
import type { PoolTasks } from './pool-worker.ts'

const open: { close(): void }[] = []

afterEach(() => {
  for (const pool of open.splice(0)) pool.close()
})

function openPool(options: Partial<WorkerPoolOptions> = {}) {
  const entry = new URL('./pool-worker.ts', import.meta.url)
  const pool = openWorkerPool<PoolTasks>({ entry, taskTimeoutMs: 20_000, ...options })
  open.push(pool)
  return pool
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    return error instanceof WorkerError ? error.reason : String(error)
  }
  return 'none'
}

test('runs tasks in the order they came, more of them than there are workers', async () => {
  const pool = openPool({ maxWorkers: 2, tasksPerWorker: 2 })
  const results = await Promise.all(Array.from({ length: 20 }, (_, i) => pool.run('double', i)))
  expect(results).toEqual(Array.from({ length: 20 }, (_, i) => i * 2))
})

test('starts a second worker only when the first is busy', async () => {
  const pool = openPool({ maxWorkers: 2 })
  const [first, again] = [await pool.run('threadName', null), await pool.run('threadName', null)]
  expect(again).toBe(first)
  const both = await Promise.all([pool.run('threadName', null), pool.run('threadName', null)])
  expect(new Set(both).size).toBe(2)
})

test.if(process.platform === 'linux')('gives way to the event loop where both are ready to run', async () => {
  const before = getPriority(0)
  expect(await openPool().run('niceness', null)).toBe(Math.min(before + 5, 19))
  expect(getPriority(0)).toBe(before)
})

test('answers what a task calls back for, and fails the task with what the answer threw', async () => {
  const pool = openPool()
  const numbers = [1, 2, 3]
  expect(await pool.run('sum', 10, () => Promise.resolve(numbers.shift() ?? null))).toBe(16)
  const error = new RangeError('the disk is gone')
  const failure = await pool.run('sum', 1, () => Promise.reject(error)).catch((thrown: unknown) => thrown)
  expect(failure).toBe(error)
  expect(await failureOf(pool.run('sum', 1))).toContain('nothing answers it')
  expect(await pool.run('double', 2)).toBe(4)
})

test('lets one task of a worker go on while another waits for an answer', async () => {
  const pool = openPool({ tasksPerWorker: 2 })
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: answer, resolve: give } = Promise.withResolvers<null>()
  const waiting = pool.run('sum', 5, () => {
    ask()
    return answer
  })
  await asked
  expect(await pool.run('double', 4)).toBe(8)
  give(null)
  expect(await waiting).toBe(5)
})

test('passes on what a task throws, and keeps its worker', async () => {
  const pool = openPool()
  const name = await pool.run('threadName', null)
  expect(await failureOf(pool.run('fail', 'no such thing'))).toBe('TypeError: no such thing')
  expect(await pool.run('threadName', null)).toBe(name)
})

test('ends a worker whose task takes too long, and goes on with another', async () => {
  const pool = openPool({ taskTimeoutMs: 200 })
  const [stuck, next] = [failureOf(pool.run('loop', null)), pool.run('double', 1)]
  expect(await stuck).toBe('timeout')
  expect(await next).toBe(2)
})

test('gives a task its whole time again after each call back, where it is asked to', async () => {
  const pool = openPool({ taskTimeoutMs: 500, restartTimeoutOnCall: true })
  let calls = 0
  const slowly = async () => {
    await Bun.sleep(200)
    return ++calls > 4 ? null : 1
  }
  expect(await pool.run('sum', 0, slowly)).toBe(4)
  const impatient = openPool({ taskTimeoutMs: 500 })
  calls = 0
  expect(await failureOf(impatient.run('sum', 0, slowly))).toBe('timeout')
})

test('starts another worker after one that died', async () => {
  const pool = openPool()
  expect(await failureOf(pool.run('exit', null))).toBe('crashed')
  expect(await pool.run('double', 3)).toBe(6)
})

test('fails the task when its worker cannot start', async () => {
  const pool = openPool({ entry: new URL('./no-such-worker.ts', import.meta.url) })
  expect(await failureOf(pool.run('double', 1))).toBe('crashed')
})

test('ends a worker that has been idle, and starts another for the next task', async () => {
  // The condition is polled more rarely than this, so that the worker is idle in between.
  const pool = openPool({ idleMs: 1 })
  const first = await pool.run('threadName', null)
  await until(async () => (await pool.run('threadName', null)) !== first)
})

test('refuses a task when too many wait', async () => {
  const pool = openPool({ maxQueued: 1 })
  const outcomes = await Promise.all([1, 2, 3].map(value => failureOf(pool.run('double', value))))
  expect(outcomes).toEqual(['none', 'none', 'queue_full'])
})

test('fails what is in flight, what waits and what comes later, once it is closed', async () => {
  const pool = openPool()
  const pending = [failureOf(pool.run('loop', null)), failureOf(pool.run('double', 1))]
  pool.close()
  expect(await Promise.all([...pending, failureOf(pool.run('double', 1))])).toEqual(['closed', 'closed', 'closed'])
})
