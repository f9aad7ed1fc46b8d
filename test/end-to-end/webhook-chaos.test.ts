import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { newId } from '../../src/base/ids.ts'
import { amount } from '../harness/amount.ts'
import { expireLeases } from '../harness/claim.ts'
import { startDatabaseProxy } from '../harness/database-proxy.ts'
import {
  type DeliveryPlan,
  type PlannedEvent,
  pick,
  randomPlan,
  seededRandom,
  shuffled,
} from '../harness/delivery-plan.ts'
import {
  deliveryMismatch,
  expectedStatus,
  expectedSuppressionReasons,
  isHardBounce,
} from '../harness/expected-delivery.ts'
import { type FaultyProvider, type LedgerEntry, startFaultyProvider } from '../harness/faulty-provider.ts'
import { killAtWrite, type WriteStep } from '../harness/kill-at-write.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { postmarkRecord } from '../harness/postmark-records.ts'
import { headerValues } from '../harness/relayed-messages.ts'
import { until } from '../harness/until.ts'
import { type OutgoingWebhook, startWebhookPoster, type WebhookPoster } from '../harness/webhook-poster.ts'

/** Determines everything that the provider does; MAILROOM_TEST_SEED sets another. */
const seed = Number(process.env['MAILROOM_TEST_SEED'] ?? 8058)
const random = seededRandom(seed)
const count = amount({ short: 150, long: 300 })
const kills = 2
const smooth: DeliveryPlan = { faults: [], ending: 'accept', reply: '', events: [], isEarly: false }

const courses = new Map<string, DeliveryPlan>()
const idsByAddress = new Map<string, string>()
let provider: FaultyProvider
let mailroom: Mailroom
let poster: WebhookPoster

beforeAll(async () => {
  process.stdout.write(`MAILROOM_TEST_SEED=${seed}\n`)
  provider = await startFaultyProvider(
    address => courses.get(address) ?? smooth,
    entry => {
      if (entry.acceptances === 1 && entry.plan.isEarly) for (const news of entry.plan.events) tellOften(entry, news)
    },
  )
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: provider.url,
    MAILROOM_SMARTHOST_PRESET: 'postmark',
    MAILROOM_POSTMARK_TOKEN: 'a-token',
    MAILROOM_AUTH_FAILURES_PER_MINUTE: '1000000',
    MAILROOM_RETRY_FIRST_SECONDS: '1',
    MAILROOM_SECRET_KEY: randomBytes(32).toString('base64'),
  })
  poster = startWebhookPoster(() => mailroom.http, 6)
}, 60_000)

afterAll(async () => {
  await poster?.close()
  await mailroom?.stop()
  await provider?.close()
}, 60_000)

let numbers = 0

function request(record: object | string, token = 'a-token'): Omit<OutgoingWebhook, 'expected'> {
  const body = typeof record === 'string' ? record : JSON.stringify(record)
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa(`mailroom:${token}`)}` }
  return { path: '/provider/postmark/events', headers, body }
}

function emailIdOf({ header }: LedgerEntry): string {
  const [id] = headerValues(`${header}\r\n`, 'X-PM-Metadata-mailroom-id')
  if (id === undefined) throw new Error(`the email has no name of ours: ${header}`)
  return id
}

/** Tells it up to three times, as Postmark repeats what it got no answer to, and also what it got one to. */
function tellOften(entry: LedgerEntry, news: PlannedEvent): void {
  const emailId = emailIdOf(entry)
  // Its own, so that it does not depend on what else goes on.
  const random = seededRandom(seed ^ Bun.hash.crc32(`${entry.address} ${news.kind}`))
  const address = pick(random, [entry.address, entry.address.toUpperCase()])
  const record = postmarkRecord(news, { emailId, address, number: ++numbers })
  for (let copies = pick(random, [1, 1, 1, 2, 3]), i = 0; i < copies; i++) {
    const onTaken = () => {
      if (!entry.reported.includes(news)) entry.reported.push(news)
    }
    poster.post({ ...request(record), expected: 200, onAccepted: onTaken })
  }
}

/** What Postmark did not write, and what it wrote of nobody that we know. */
function tellNonsense(entry: LedgerEntry): void {
  const emailId = emailIdOf(entry)
  const news: PlannedEvent = {
    kind: pick(random, ['failed', 'complained', 'delivered']),
    reply: '550 5.1.1 User unknown',
  }
  const about = { emailId, address: entry.address, number: ++numbers }
  const record = postmarkRecord(news, about)
  const records: readonly OutgoingWebhook[] = [
    { ...request(record, 'another'), expected: 401 },
    { ...request(record, ''), expected: 401 },
    { ...request(postmarkRecord(news, { ...about, address: 'nobody@dest.example' })), expected: 200 },
    { ...request(postmarkRecord(news, { ...about, emailId: newId('eml') })), expected: 200 },
    { ...request({ ...record, Metadata: {} }), expected: 200 },
    { ...request({ ...record, RecordType: 'Open' }), expected: 200 },
    { ...request(JSON.stringify(record).slice(0, -9)), expected: 400 },
  ]
  poster.post(pick(random, records))
}

const hasNoWork = async () =>
  (await mailroom.database.db.selectFrom('outbox').select('id').limit(1).execute()).length === 0

/** Each sender address is another, and by it the provider tells emails apart: it is what Postmark gets in MAIL FROM. */
async function send(to: string): Promise<string> {
  const from = `s${idsByAddress.size}.${randomBytes(4).toString('hex')}@demo.test`
  const { status, json } = await mailroom.api('POST', '/v1/emails', { from, to, subject: 'Hello', text: 'Hello' })
  expect(status).toBe(202)
  idsByAddress.set(to, json.id)
  return json.id
}

const emailOf = async (id: string) => (await mailroom.api('GET', `/v1/emails/${id}`)).json

async function suppressions(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (let cursor = ''; ; ) {
    const { json } = await mailroom.api('GET', `/v1/suppressions?limit=200${cursor}`)
    for (const { email, reason } of json.data) found.set(email, reason)
    if (json.next_cursor === null) return found
    cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`
  }
}

async function expectTruth(): Promise<void> {
  const wrong: object[] = []
  for (const entry of provider.ledger.values()) {
    const json = await emailOf(idsByAddress.get(entry.address) ?? '')
    const own = json.events.filter((one: { recipient: string | null }) => one.recipient === entry.address)
    const difference = deliveryMismatch(entry, json.recipients[0].status, own, isHardBounce, 'provider_webhook')
    if (difference || json.status !== expectedStatus(entry))
      wrong.push({ difference, status: json.status, entry: { ...entry, header: '' } })
  }
  expect(wrong.slice(0, 5)).toEqual([])
  const due = Array.from(provider.ledger.values(), entry => [entry.address, expectedSuppressionReasons(entry)] as const)
  const shown = await suppressions()
  expect(due.filter(([address, reasons]) => reasons.length > 0 !== shown.has(address))).toEqual([])
  expect(due.filter(([address, reasons]) => shown.has(address) && !reasons.includes(shown.get(address) ?? ''))).toEqual(
    [],
  )
}

const doubts = () => mailroom.log.filter(line => line.level === 40 && line.msg.includes('MAILROOM_PUBLIC_URL'))

test('warns at start that one-click unsubscribe does not work without https', () => {
  expect(doubts()).toHaveLength(1)
})

test('repeated, out of order, mixed with forgeries and with kills, Postmark’s events end in what it did', async () => {
  const began = performance.now()
  const addresses = Array.from({ length: count }, (_, i) => `r${i}@dest${i % 9}.example`)
  for (const address of addresses) {
    const course = randomPlan(random)
    courses.set(address, { ...course, events: course.events.filter(event => event.kind !== 'relayed') })
  }
  const rest = addresses.values()
  const sending = Array.from({ length: 6 }, async () => {
    for (const address of rest) await send(address)
  })
  await Promise.all(sending)
  await until(hasNoWork, { withinMs: 60_000 })
  await poster.drained()

  const taken = [...provider.ledger.values()].filter(ledgerEntry => ledgerEntry.acceptances > 0)
  expect(provider.ledger.size).toBe(count)
  const late = taken.flatMap(entry => (entry.plan.isEarly ? [] : entry.plan.events.map(news => ({ entry, news }))))
  const before = poster.counts().posted
  for (const { entry, news } of shuffled(random, late)) {
    tellOften(entry, news)
    if (random() < 0.3) tellNonsense(pick(random, taken))
  }
  for (let kill = 1; kill <= kills; kill++) {
    await until(() => poster.counts().posted - before >= (late.length * kill) / (kills + 1))
    await mailroom.kill('SIGKILL')
    await mailroom.restart()
  }
  await poster.drained()
  expect(poster.unexpected.slice(0, 5)).toEqual([])
  await expectTruth()
  const { posted, retries } = poster.counts()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(
    `${count} emails, ${posted} records (${retries} told again), ${kills} kills, ${(await suppressions()).size} suppressed: ${seconds} s\n`,
  )
}, 120_000)

/** The state of an email: its status, its events, and why the address is suppressed. */
async function stateOf(id: string, address: string) {
  const list = `/v1/suppressions/check?email=${address}&brand_id=${mailroom.demo.brand_id}`
  const { status, recipients, events } = await emailOf(id)
  const kinds = events.map((event: { type: string }) => event.type)
  expect(recipients[0].status).toBe(status)
  return [status, kinds.join(' '), (await mailroom.api('GET', list)).json.suppression?.reason ?? null]
}

/** The writes of a bounce, in order. */
const steps: readonly WriteStep[] = [
  { table: 'email_events', write: 'INSERT', when: "NEW.type = 'bounced'" },
  { table: 'email_recipients', write: 'UPDATE', when: "NEW.status = 'bounced'" },
  { table: 'emails', write: 'UPDATE', when: "NEW.status = 'bounced'" },
  { table: 'suppressions', write: 'INSERT' },
]
const nameOf = ({ table, write }: WriteStep) => `${write.toLowerCase()}-${table.replace('_', '-')}`

async function tell(emailId: string, address: string): Promise<number> {
  const news: PlannedEvent = { kind: 'failed', reply: '550 5.1.1 User unknown' }
  const { path, headers, body } = request(postmarkRecord(news, { emailId, address, number: 7 }))
  return (await fetch(mailroom.http + path, { method: 'POST', headers, body })).status
}

const refusedFor = (address: string) => `550 5.1.1 No mailbox for ${address.split('@')[0]}`

/** Sends to an address that the provider refuses at RCPT, for good. */
async function sendRefused(address: string): Promise<string> {
  courses.set(address, { ...smooth, ending: 'refuse at RCPT', reply: refusedFor(address) })
  return send(address)
}

const refused = ['bounced', 'queued bounced', 'hard_bounce']

for (const step of steps)
  test(`killed at its ${step.write} of ${step.table}, nothing of a webhook or of a refused RCPT is recorded; each is repeated and recorded once`, async () => {
    const [told, gone] = [`told-${nameOf(step)}@dest.example`, `refused-${nameOf(step)}@dest.example`]
    const id = await send(told)
    await until(async () => (await emailOf(id)).status === 'sent')
    let refusedId = ''
    await killAtWrite(mailroom, { ...step, count: 2 }, async () => {
      const telling = tell(id, told).catch(() => undefined)
      refusedId = await sendRefused(gone)
      await telling
    })
    expect(await stateOf(id, told)).toEqual(['sent', 'queued sent', null])
    expect(await stateOf(refusedId, gone)).toEqual([expect.stringMatching(/^(queued|sending)$/), 'queued', null])
    await expireLeases(mailroom.database.db)
    for (let again = 0; again < 2; again++) expect(await tell(id, told)).toBe(200)
    await until(hasNoWork)
    expect(await stateOf(id, told)).toEqual(['bounced', 'queued sent bounced', 'hard_bounce'])
    expect(await stateOf(refusedId, gone)).toEqual(refused)
  }, 60_000)

test('killed before it removes a refused recipient from the queue, it submits it again, and the refusal is recorded once', async () => {
  const address = 'refused-last@dest.example'
  let id = ''
  await killAtWrite(mailroom, { table: 'outbox', write: 'DELETE' }, async () => {
    id = await sendRefused(address)
  })
  expect((await stateOf(id, address)).slice(1)).toEqual(['queued', null])
  await expireLeases(mailroom.database.db)
  await until(hasNoWork)
  expect(await stateOf(id, address)).toEqual(refused)
}, 60_000)

test('killed after the commit of a refused RCPT, everything is recorded and stays', async () => {
  const gate = await startDatabaseProxy(mailroom.database.url)
  try {
    await mailroom.kill('SIGTERM')
    await mailroom.restart({ MAILROOM_DATABASE_URL: gate.url })
    const address = 'after@dest.example'
    const held = gate.pauseCommit('after', refusedFor(address).slice(10))
    const id = await sendRefused(address)
    await held
    await mailroom.kill('SIGKILL')
    await mailroom.restart({
      MAILROOM_DATABASE_URL: mailroom.database.url,
      MAILROOM_PUBLIC_URL: 'https://mail.example',
    })
    expect(await hasNoWork()).toBe(true)
    expect(await stateOf(id, address)).toEqual(refused)
    expect(doubts()).toEqual([])
  } finally {
    gate.close()
  }
}, 60_000)
