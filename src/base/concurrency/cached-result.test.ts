import { expect, test } from 'bun:test'
import { cachedResult } from './cached-result.ts'

test('loads once for all who ask meanwhile, and again when it is forgotten, too old or failed', async () => {
  let loads = 0
  const get = cachedResult(40, async () => {
    loads += 1
    if (loads === 3) throw new Error('away')
    return loads
  })
  expect(await Promise.all([get(), get()])).toEqual([1, 1])
  expect(await get()).toBe(1)
  get.forget()
  expect(await get()).toBe(2)
  await Bun.sleep(60)
  await expect(get()).rejects.toThrow('away')
  expect(await get()).toBe(4)
})
