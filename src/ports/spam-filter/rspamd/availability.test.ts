import { expect, test } from 'bun:test'
import { newAvailability } from './availability.ts'

test('after a failure it is away until a probe finds it, and is probed by one at a time', async () => {
  let probes = 0
  let answer: ((isThere: boolean) => void) | undefined
  const availability = newAvailability(() => {
    probes++
    return new Promise(resolve => {
      answer = resolve
    })
  })
  expect(availability.isAvailable()).toBe(true)
  expect(probes).toBe(0)
  availability.failed()
  availability.failed()
  expect([availability.isAvailable(), probes]).toEqual([false, 1])
  answer?.(true)
  await Bun.sleep(0)
  expect(availability.isAvailable()).toBe(true)
  availability.failed()
  expect([availability.isAvailable(), probes]).toEqual([false, 2])
})
