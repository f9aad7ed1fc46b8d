import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { selectRows } from '../../../src/base/database/select-rows.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase(1)
})
afterAll(() => database.close())

function objectsInHeap(): number {
  Bun.gc(true)
  return heapStats().objectCount
}

const runStatements = async (from: number, to: number) => {
  for (let count = from; count < to; count++) {
    const numbers = Array.from({ length: count }, (_, i) => i)
    const sums = await selectRows<{ sum: number }>(
      database.db,
      `SELECT ${numbers.map(() => 'CAST(? AS SIGNED)').join(' + ')} AS sum`,
      numbers,
    )
    expect(sums).toEqual([{ sum: (count * (count - 1)) / 2 }])
  }
}

test('a statement that stays prepared keeps no object for each of its parameters', async () => {
  await runStatements(290, 300)
  const before = objectsInHeap()
  // 100 statements with 300 to 400 parameters each.
  await runStatements(300, 400)
  expect(objectsInHeap() - before).toBeLessThan(10_000)
  // They run again with what is kept of them.
  await runStatements(300, 400)
})
