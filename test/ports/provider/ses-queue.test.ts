import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { type ProviderEventQueue, sqsEventQueue } from '../../../src/ports/provider/ses/sqs-queue.ts'
import type { ProviderEvent } from '../../../src/ports/provider/webhooks/webhook.ts'
import { setAwsCredentials } from '../../harness/ses.ts'
import { startSqs, type TestSqs } from '../../harness/sqs.ts'

let restore: () => void
let sqs: TestSqs
let queue: ProviderEventQueue
let logged: string[]
const never = new AbortController().signal

beforeAll(() => {
  restore = setAwsCredentials()
})
afterAll(() => restore())

beforeEach(() => {
  logged = []
  sqs = startSqs()
  const log = pino({ level: 'warn' }, { write: line => void logged.push(line) })
  queue = sqsEventQueue({ queueUrl: sqs.url, region: 'eu-west-1', clock: systemClock, log })
})
afterEach(async () => {
  await queue.close()
  await sqs.close()
})

const id = 'eml_01jzz0000000000000000000ab'

const delivery = (to: string) => ({
  eventType: 'Delivery',
  mail: { timestamp: '2026-01-31T08:00:00.000Z', messageId: '0102', destination: [to], tags: { 'mailroom-id': [id] } },
  delivery: { timestamp: '2026-01-31T08:00:01.000Z', recipients: [to], smtpResponse: '250 Ok' },
})

const wrapped = (event: object) => ({ Type: 'Notification', MessageId: 'x', Message: JSON.stringify(event) })

/** All news that is there, and what the queue said to each look. */
async function bringAll(take: (news: readonly ProviderEvent[]) => void = () => undefined) {
  const told: ProviderEvent[] = []
  const bring = () =>
    queue.receive(async news => {
      take(news)
      told.push(...news)
    }, never)
  while ((await bring()) === 'more');
  return told
}

test('news comes wrapped by SNS or raw, and is taken off the queue', async () => {
  sqs.put(wrapped(delivery('a@x.test')))
  sqs.put(delivery('b@x.test'))
  const told = await bringAll()
  expect(told).toEqual(
    ['a@x.test', 'b@x.test'].map(recipient =>
      expect.objectContaining({
        type: 'delivered',
        emailId: id,
        recipient,
        occurredAt: '2026-01-31 08:00:01.000000',
        wireMessageId: '0102@eu-west-1.amazonses.com',
      }),
    ),
  )
  expect(sqs.waiting.size).toBe(0)
  expect(sqs.received[0]).toMatchObject({ QueueUrl: sqs.url, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 })
})

test('more than comes at once is brought too', async () => {
  for (let i = 0; i < 25; i++) sqs.put(wrapped(delivery(`u${i}@x.test`)))
  expect(new Set((await bringAll()).map(providerEvent => providerEvent.recipient)).size).toBe(25)
})

test('what could not be recorded stays, and holds up nothing else', async () => {
  sqs.put(wrapped(delivery('bad@x.test')))
  sqs.put(wrapped(delivery('good@x.test')))
  const told = await bringAll(news => {
    if (news.some(providerEvent => providerEvent.recipient === 'bad@x.test')) throw new Error('the database is away')
  })
  expect(told.map(providerEvent => providerEvent.recipient)).toEqual(['good@x.test'])
  expect(Array.from(sqs.waiting.values())).toEqual([JSON.stringify(wrapped(delivery('bad@x.test')))])
  expect(logged.join()).toContain('the database is away')
  expect((await bringAll()).map(providerEvent => providerEvent.recipient)).toEqual(['bad@x.test'])
})

test('what nobody can read is noted and goes', async () => {
  for (const body of ['no JSON', wrapped({}).Message, { Type: 'Notification', Message: '{"eventType":' }]) sqs.put(body)
  sqs.put({ Type: 'Notification', Message: 'Successfully validated SNS topic for Amazon SES event publishing.' })
  expect(await bringAll()).toEqual([])
  expect([sqs.waiting.size, logged.length]).toEqual([0, 2])
})

test('a wait for news ends at once when it is to stop', async () => {
  sqs.longPolls = true
  const stopping = new AbortController()
  const brought = queue.receive(async () => undefined, stopping.signal)
  for (const deadline = Date.now() + 5000; sqs.received.length === 0 && Date.now() < deadline; ) await Bun.sleep(5)
  const since = performance.now()
  stopping.abort()
  expect(await brought).toBe('done')
  expect(performance.now() - since).toBeLessThan(2000)
})

test('a queue that refuses is told, once for each look', async () => {
  sqs.error = { status: 403, type: 'com.amazonaws.sqs#AccessDenied' }
  await expect(bringAll()).rejects.toThrow('no')
})
