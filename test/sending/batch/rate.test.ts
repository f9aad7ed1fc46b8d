import { afterAll, beforeAll, expect, test } from 'bun:test'
import { postOverHttp } from '../../../src/cli/bench/load/http-load.ts'
import { type Mailroom, startMailroom } from '../../harness/mailroom.ts'

/** MAILROOM_TEST_LONG=1 measures with many connections too. */
const isLong = process.env['MAILROOM_TEST_LONG'] === '1'
const rounds = 3
const batchSize = 100
const batchesPerRound = 8
const singlesPerRound = 150

let mailroom: Mailroom
beforeAll(async () => {
  mailroom = await startMailroom({ MAILROOM_ROLES: 'http' })
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

let sent = 0
const email = () => ({
  from: 'Demo <hello@demo.test>',
  to: `r${sent++}@friend.test`,
  subject: 'Your invoice',
  text: 'Here is your invoice.\n'.repeat(20),
})

interface Rates {
  readonly single: number
  readonly batch: number
}

/** Emails a second of a program that waits for each response, on so many connections: single sends and batches in turns. */
async function measure(connections: number): Promise<Rates> {
  const port = Number(new URL(mailroom.http).port)
  const headers = { authorization: `Bearer ${mailroom.key}` }
  const rateOf = async (isBatch: boolean) => {
    const requests = (isBatch ? batchesPerRound : singlesPerRound) * Math.min(connections, 4)
    const request = {
      path: `/v1/emails${isBatch ? '/batch' : ''}`,
      status: isBatch ? 200 : 202,
      idempotent: true,
      headers,
    }
    const body = () => JSON.stringify(isBatch ? { emails: Array.from({ length: batchSize }, email) } : email())
    const seconds = await postOverHttp(port, connections, requests, request, body)
    return (requests * (isBatch ? batchSize : 1)) / seconds
  }
  const rates = { single: [] as number[], batch: [] as number[] }
  for (const isBatch of [false, true]) await rateOf(isBatch)
  for (let round = 0; round < rounds; round++) {
    rates.single.push(await rateOf(false))
    rates.batch.push(await rateOf(true))
  }
  return { single: median(rates.single), batch: median(rates.batch) }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

test('a program that waits for each response has at least 5 times as many emails a second accepted in batches', async () => {
  for (const connections of isLong ? [32, 1] : [1]) {
    const { single, batch } = await measure(connections)
    process.stdout.write(
      `${connections} connection(s): ${single.toFixed()} emails/s one by one, ${batch.toFixed()} in batches of ${batchSize}: ${(batch / single).toFixed(1)} times\n`,
    )
    if (connections === 1) expect(batch / single).toBeGreaterThanOrEqual(5)
  }
  const { count } = await mailroom.database.db
    .selectFrom('emails')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  expect(Number(count)).toBe(sent)
}, 180_000)
