import { expect, test } from 'bun:test'
import { newWeightedSemaphore } from './weighted-semaphore.ts'

test('units are shared out in the order in which they are asked for', async () => {
  const limiter = newWeightedSemaphore(10)
  const order: string[] = []
  const take = (name: string, units: number) =>
    limiter.acquire(units).then(giveBack => {
      order.push(name)
      return giveBack
    })
  const [first, second, third] = [take('first', 6), take('second', 6), take('third', 1)]
  const giveBack = await first
  await Bun.sleep(1)
  // The third would fit, and waits its turn.
  expect(order).toEqual(['first'])
  giveBack()
  giveBack()
  await Promise.all([second, third])
  expect(order).toEqual(['first', 'second', 'third'])
})

test('more than there is in all is taken as all', async () => {
  const limiter = newWeightedSemaphore(10)
  const giveBack = await limiter.acquire(1000)
  let isTaken = false
  const next = limiter.acquire(1).then(() => {
    isTaken = true
  })
  await Bun.sleep(1)
  expect(isTaken).toBe(false)
  giveBack()
  await next
  expect(isTaken).toBe(true)
})
