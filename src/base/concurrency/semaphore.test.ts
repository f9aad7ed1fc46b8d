import { expect, test } from 'bun:test'
import { newSemaphore } from './semaphore.ts'

test('lets so many through at once, the others in their order', async () => {
  const turn = newSemaphore(2)
  const first = await turn()
  await turn()
  const order: number[] = []
  const third = turn().then(release => {
    order.push(3)
    release?.()
  })
  const fourth = turn().then(() => order.push(4))
  await Bun.sleep(1)
  expect(order).toEqual([])
  first?.()
  first?.()
  await Promise.all([third, fourth])
  expect(order).toEqual([3, 4])
})

test('whoever gives up leaves the queue and takes no place', async () => {
  const turn = newSemaphore(1)
  const held = await turn()
  const gaveUp = turn(AbortSignal.timeout(5))
  const patient = turn()
  expect(await gaveUp).toBeUndefined()
  held?.()
  expect(await patient).toBeFunction()
})
