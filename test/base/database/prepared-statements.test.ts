import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Socket } from 'node:net'
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

test('the packets of long parameters are freed when the server has replied, and those of others are not', async () => {
  const packets: Buffer[] = []
  const text = 'SELECT LENGTH(?) AS length'
  const lengthOf = async (bytes: Buffer) =>
    (await selectRows<{ length: number }>(database.db, text, [bytes]))[0]?.length
  // From then on the statement is prepared.
  expect(await lengthOf(Buffer.alloc(300_000))).toBe(300_000)
  const { write } = Socket.prototype
  Socket.prototype.write = function (this: Socket, ...given: Parameters<typeof write>) {
    if (Buffer.isBuffer(given[0])) packets.push(given[0])
    return write.apply(this, given)
  } as typeof write
  try {
    expect(await Promise.all([300_000, 100_000].map(length => lengthOf(Buffer.alloc(length))))).toEqual([
      300_000, 100_000,
    ])
  } finally {
    Socket.prototype.write = write
  }
  const long = packets.filter(packet => packet.length === 0 || packet.length > 50_000)
  expect(long.map(packet => packet.length > 0)).toEqual([false, true])
})
