import { expect, test } from 'bun:test'
import { newWeightedSemaphore } from './weighted-semaphore.ts'

test('gives units in the order in which they are asked for', async () => {
  const semaphore = newWeightedSemaphore(10)
  const order: string[] = []
  const acquire = (name: string, units: number) =>
    semaphore.acquire(units).then(release => {
      order.push(name)
      return release
    })
  const [first, second, third] = [acquire('first', 6), acquire('second', 6), acquire('third', 1)]
  const release = await first
  // Long enough for units that are given out of order: the third would fit.
  await Bun.sleep(1)
  expect(order).toEqual(['first'])
  release()
  release()
  await Promise.all([second, third])
  expect(order).toEqual(['first', 'second', 'third'])
})

test('gives all units to a caller that wants more than there are', async () => {
  const semaphore = newWeightedSemaphore(10)
  const release = await semaphore.acquire(1000)
  let isAcquired = false
  const next = semaphore.acquire(1).then(() => {
    isAcquired = true
  })
  // Long enough for a unit that is given too early.
  await Bun.sleep(1)
  expect(isAcquired).toBe(false)
  release()
  await next
  expect(isAcquired).toBe(true)
})
