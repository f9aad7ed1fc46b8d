import { expect, test } from 'bun:test'
import { limitConcurrency, newSemaphore } from './semaphore.ts'

test('gives as many permits as it has, and the rest in order as they are released', async () => {
  const acquire = newSemaphore(2)
  const first = await acquire()
  await acquire()
  const order: number[] = []
  const third = acquire().then(release => {
    order.push(3)
    release?.()
  })
  const fourth = acquire().then(() => order.push(4))
  // Long enough for a permit that is given too early.
  await Bun.sleep(1)
  expect(order).toEqual([])
  first?.()
  first?.()
  await Promise.all([third, fourth])
  expect(order).toEqual([3, 4])
})

test('gives no permit to a caller that has given up', async () => {
  const acquire = newSemaphore(1)
  const release = await acquire()
  const impatient = acquire(AbortSignal.timeout(5))
  const patient = acquire()
  expect(await impatient).toBeUndefined()
  expect(await acquire(AbortSignal.abort())).toBeUndefined()
  release?.()
  expect(await patient).toBeFunction()
})

test('releases the permit of work that throws', async () => {
  const run = limitConcurrency(1)
  await expect(run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await run(() => Promise.resolve('yes'))).toBe('yes')
})
