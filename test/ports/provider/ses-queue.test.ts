import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { type ProviderEventQueue, sqsEventQueue } from '../../../src/ports/provider/ses/sqs-queue.ts'
import type { ProviderEvent } from '../../../src/ports/provider/webhooks/webhook.ts'
import { setAwsCredentials } from '../../harness/ses.ts'
import { startSqs, type TestSqs } from '../../harness/sqs.ts'
import { until } from '../../harness/until.ts'

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

/** Receives until the queue has nothing more; returns the events that `record` accepted. */
async function receiveAll(record: (events: readonly ProviderEvent[]) => void = () => undefined) {
  const recorded: ProviderEvent[] = []
  const receive = () =>
    queue.receive(async events => {
      record(events)
      recorded.push(...events)
    }, never)
  while ((await receive()) === 'more');
  return recorded
}

test('receives events wrapped by SNS or raw, and deletes their messages', async () => {
  sqs.put(wrapped(delivery('a@x.test')))
  sqs.put(delivery('b@x.test'))
  const recorded = await receiveAll()
  expect(recorded).toEqual(
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

test('receives more than one batch', async () => {
  for (let i = 0; i < 25; i++) sqs.put(wrapped(delivery(`u${i}@x.test`)))
  expect(new Set((await receiveAll()).map(event => event.recipient)).size).toBe(25)
})

test('a message that could not be recorded stays in the queue, and does not delay the others', async () => {
  sqs.put(wrapped(delivery('bad@x.test')))
  sqs.put(wrapped(delivery('good@x.test')))
  const recorded = await receiveAll(events => {
    if (events.some(event => event.recipient === 'bad@x.test')) throw new Error('the database is away')
  })
  expect(recorded.map(event => event.recipient)).toEqual(['good@x.test'])
  expect(Array.from(sqs.waiting.values())).toEqual([JSON.stringify(wrapped(delivery('bad@x.test')))])
  expect(logged.join()).toContain('the database is away')
  expect((await receiveAll()).map(event => event.recipient)).toEqual(['bad@x.test'])
})

test('an unreadable message is logged and deleted', async () => {
  for (const body of ['no JSON', wrapped({}).Message, { Type: 'Notification', Message: '{"eventType":' }]) sqs.put(body)
  sqs.put({ Type: 'Notification', Message: 'Successfully validated SNS topic for Amazon SES event publishing.' })
  expect(await receiveAll()).toEqual([])
  expect([sqs.waiting.size, logged.length]).toEqual([0, 2])
})

test('a wait for messages ends at once when it is stopped', async () => {
  sqs.longPolls = true
  const stopping = new AbortController()
  const received = queue.receive(async () => undefined, stopping.signal)
  await until(() => sqs.received.length > 0)
  const since = performance.now()
  stopping.abort()
  expect(await received).toBe('done')
  expect(performance.now() - since).toBeLessThan(2000)
})

test('an error of the queue is thrown', async () => {
  sqs.error = { status: 403, type: 'com.amazonaws.sqs#AccessDenied' }
  await expect(receiveAll()).rejects.toThrow('no')
})
