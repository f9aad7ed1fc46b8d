import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { amount } from '../harness/amount.ts'
import {
  type DeliveryPlan,
  type PlannedEvent,
  pick,
  randomPlan,
  seededRandom,
  shuffled,
} from '../harness/delivery-plan.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import {
  bouncesOf,
  deliveryMismatch,
  expectedStatus,
  expectedSuppressionReasons,
  isHardBounce,
  isMailboxClosed,
  overallStatus,
} from '../harness/expected-delivery.ts'
import { type FaultyProvider, type LedgerEntry, startFaultyProvider } from '../harness/faulty-provider.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { type ReportSender, startReportSender } from '../harness/report-sender.ts'
import { until } from '../harness/until.ts'
import { dialects, writeAutoReply, writeDsn, writeFeedback } from '../harness/write-reports.ts'

/** Determines everything that the provider does; MAILROOM_TEST_SEED sets another. */
const seed = Number(process.env['MAILROOM_TEST_SEED'] ?? 3464)
const random = seededRandom(seed)
const count = amount({ short: 640, long: 1920 })
const clients = 8
const withinMs = 60_000

const courses = new Map<string, DeliveryPlan>()
/** The addresses whose email has no other recipient: a complaint in a mailbox that names it is theirs. */
const alone = new Set<string>()
const posted: { readonly id: string; readonly addresses: readonly string[] }[] = []
let provider: FaultyProvider
/** Knows no recipients: a relayed DSN does not say that the message arrived at the recipient's server. */
let dns: TestDns
let mailroom: Mailroom
let reporter: ReportSender

const courseOf = (address: string): DeliveryPlan => {
  const course = courses.get(address.toLowerCase())
  if (!course) throw new Error(`${address} is nobody's`)
  return course
}

beforeAll(async () => {
  process.stdout.write(`MAILROOM_TEST_SEED=${seed}\n`)
  provider = await startFaultyProvider(courseOf, entry => {
    if (entry.acceptances === 1 && entry.plan.isEarly) for (const news of entry.plan.events) tellOften(entry, news)
  })
  dns = await startDns()
  mailroom = await startMailroom({
    MAILROOM_RESOLVERS: `127.0.0.1:${dns.endpoint.port}`,
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: provider.url,
    MAILROOM_SMARTHOST_CONNECTIONS: '8',
    MAILROOM_RETRY_FIRST_SECONDS: '1',
  })
  reporter = startReportSender(() => mailroom.smtp, 6)
}, 60_000)

afterAll(async () => {
  await reporter?.close()
  await mailroom?.stop()
  await provider?.close()
  await dns?.close()
}, 60_000)

let names = 0

/** Tells it up to three times, as the same bytes or, where that is no other news, as a report of another name. */
function tellOften(entry: LedgerEntry, news: PlannedEvent): void {
  // Its own, so that it does not depend on what else goes on.
  const random = seededRandom(seed ^ Bun.hash.crc32(`${entry.address} ${news.kind}`))
  const about = {
    address: pick(random, [entry.address, entry.address.toUpperCase()]),
    header: entry.header,
    dialect: pick(random, dialects),
  }
  const name = () => `report.${names++}`
  const first = name()
  for (let copies = pick(random, [1, 1, 1, 2, 3]), i = 0; i < copies; i++) {
    const isSame = news.kind === 'delayed' || random() < 0.5
    const isToMailbox = news.kind === 'complained' && alone.has(entry.address) && random() < 0.3
    const to = isToMailbox ? 'abuse@demo.test' : entry.reversePath
    const as = { ...about, to, name: isSame ? first : name() }
    const message = news.kind === 'complained' ? writeFeedback('abuse', as) : writeDsn(news, as)
    const onTaken = () => void (i === 0 && entry.reported.push(news))
    reporter.send({ from: '', to, message, expected: '250 ', onAccepted: onTaken })
  }
}

/** Reports without information, and forged ones. */
function tellNonsense(entry: LedgerEntry): void {
  const { address, reversePath, header } = entry
  const news: PlannedEvent = { kind: 'failed', reply: '550 5.1.1 User unknown' }
  const about = { address, to: reversePath, header, name: `nonsense.${names++}`, dialect: 'postfix' as const }
  const [local = '', host = ''] = reversePath.split('@')
  const another = (at: number) => `${local.slice(0, at)}${local[at] === '0' ? '1' : '0'}${local.slice(at + 1)}@${host}`
  const bounce = writeDsn(news, about)
  const unknown = header.replace(/eml_[0-9a-z]{26}/g, 'eml_00000000000000000000000000')
  const stranger = writeDsn(news, { ...about, to: 'hello@demo.test', header: unknown })
  const reports = [
    { from: '', to: reversePath, message: writeAutoReply(about), expected: '250 ' },
    { from: '', to: reversePath, message: writeFeedback('not-spam', about), expected: '250 ' },
    // Another signature, another email, another recipient of it.
    { from: '', to: another(local.length - 3), message: bounce, expected: '550 ' },
    { from: '', to: another(12), message: bounce, expected: '550 ' },
    { from: '', to: another(29), message: bounce, expected: '550 ' },
    { from: '', to: `b+${'0'.repeat(44)}@${host}`, message: bounce, expected: '550 ' },
    { from: '', to: 'hello@demo.test', message: stranger, expected: '250 ' },
  ] as const
  reporter.send(pick(random, reports))
}

async function post(fields: object) {
  const email = { from: 'Demo <hello@demo.test>', subject: 'Hello', text: 'Hello.\n.\n', ...fields }
  return mailroom.api('POST', '/v1/emails', email)
}

/** Runs `act` for each value, a few at the same time. */
async function forEachConcurrently<Value>(
  values: readonly Value[],
  act: (value: Value) => Promise<void>,
): Promise<void> {
  const rest = values.values()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (const value of rest) await act(value)
    }),
  )
}

async function sendOne(addresses: readonly string[]): Promise<void> {
  const [first, second, third] = addresses
  const { status, json } = await post({ to: first, ...(second && { cc: second }), ...(third && { bcc: [third] }) })
  expect(status).toBe(202)
  posted.push({ id: json.id, addresses })
}

async function untilOutboxIsEmpty(): Promise<void> {
  const rows = mailroom.database.db.selectFrom('outbox').select('id').limit(1)
  await until(async () => (await rows.execute()).length === 0, { what: 'an empty outbox', withinMs })
}

async function suppressions(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (let cursor = ''; ; ) {
    const { json } = await mailroom.api('GET', `/v1/suppressions?limit=100${cursor}`)
    for (const { email, reason } of json.data) found.set(email, reason)
    if (json.next_cursor === null) return found
    cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`
  }
}

const newAddress = (i: number) => `${pick(random, ['r', 'R', 'Name.'])}${i}@dest${i % 9}.example`

/** What the provider received for each address, in order. */
function entriesByAddress(): ReadonlyMap<string, readonly LedgerEntry[]> {
  return Map.groupBy(provider.ledger.values(), entry => entry.address.toLowerCase())
}

/** What it received first for each address, in an order that is the same in every run. */
function firstEntries(): readonly LedgerEntry[] {
  return Array.from(entriesByAddress().values())
    .flatMap(([entry]) => entry ?? [])
    .toSorted((a, b) => (a.address < b.address ? -1 : 1))
}

/** Every email shows what the ledger says of its recipients, each event once, and nothing else. */
async function compareAll(closedTwice: ReadonlySet<LedgerEntry>): Promise<void> {
  const byAddress = new Map(Array.from(entriesByAddress(), ([address, of]) => [address, of.values()]))
  const pairs = posted.map(({ id, addresses }) => ({
    id,
    of: addresses.map(address => byAddress.get(address.toLowerCase())?.next().value),
  }))
  const wrong: object[] = []
  const eventIds: string[] = []
  await forEachConcurrently(pairs, async ({ id, of }) => {
    const { json } = await mailroom.api('GET', `/v1/emails/${id}`)
    eventIds.push(...json.events.map((one: { id: string }) => one.id))
    const told = of.flatMap(entry => (entry ? [entry] : []))
    if (told.length < of.length) wrong.push({ id, difference: 'a recipient was never offered' })
    for (const entry of told) {
      const shown = json.recipients.find((one: { email: string }) => one.email === entry.address)
      const own = json.events.filter((one: { recipient: string | null }) => one.recipient === entry.address)
      const isKept = (reply: string) => isHardBounce(reply) || (closedTwice.has(entry) && isMailboxClosed(reply))
      const difference = deliveryMismatch(entry, shown?.status, own, isKept)
      if (difference) wrong.push({ id, difference, entry: { ...entry, header: '' } })
    }
    const others = json.events.filter((one: { recipient: string | null }) => one.recipient === null)
    const kinds = others.map((one: { type: string }) => one.type).join()
    const worst = overallStatus(told.map(expectedStatus))
    if (kinds !== 'queued' || json.status !== worst) wrong.push({ id, status: json.status, worst, kinds })
  })
  expect(wrong.slice(0, 5)).toEqual([])
  expect(new Set(eventIds).size).toBe(eventIds.length)
}

/** The list holds what the ledger gives reason to, and nothing else. */
async function compareList(closedTwice: ReadonlySet<LedgerEntry>): Promise<number> {
  const shown = await suppressions()
  const due = new Map<string, readonly string[]>()
  for (const [address, of] of entriesByAddress()) {
    const reasons = of.flatMap(expectedSuppressionReasons)
    if (of.some(entry => closedTwice.has(entry))) reasons.push('hard_bounce')
    if (reasons.length > 0) due.set(address, reasons)
  }
  expect([...shown.keys()].filter(value => !due.has(value))).toEqual([])
  expect([...due.keys()].filter(value => !shown.has(value))).toEqual([])
  // Where there are two reasons, whichever came first holds.
  expect([...shown].filter(([address, reason]) => !due.get(address)?.includes(reason))).toEqual([])
  return due.size
}

async function firstWave(): Promise<void> {
  const emails = Array.from({ length: count }, (_, i) =>
    Array.from({ length: pick(random, [1, 1, 1, 1, 1, 1, 2, 3]) }, (_, j) => newAddress(3 * i + j)),
  )
  for (const [only, other] of emails) if (only !== undefined && other === undefined) alone.add(only)
  for (const address of emails.flat()) courses.set(address.toLowerCase(), randomPlan(random))
  await forEachConcurrently(emails, sendOne)
  await untilOutboxIsEmpty()
  const taken = firstEntries().filter(entry => entry.acceptances > 0)
  const late = taken.flatMap(entry => (entry.plan.isEarly ? [] : entry.plan.events.map(news => ({ entry, news }))))
  for (const { entry, news } of shuffled(random, late)) {
    tellOften(entry, news)
    if (random() < 0.15) tellNonsense(pick(random, taken))
  }
  await reporter.drained()
}

/** Sends again to some who are suppressed, and to some who bounced and are not; of these half find that a day has gone by. */
async function secondWave(): Promise<ReadonlySet<LedgerEntry>> {
  const first = firstEntries()
  const suppressed = first.filter(entry => expectedSuppressionReasons(entry).length > 0).slice(0, 40)
  const open = first.filter(entry => expectedSuppressionReasons(entry).length === 0 && bouncesOf(entry).length > 0)
  const closed = open.filter(entry => bouncesOf(entry).some(isMailboxClosed)).slice(0, 30)
  const others = open.filter(entry => !bouncesOf(entry).some(isMailboxClosed)).slice(0, 20)
  const aDayAgo = closed.filter((_, i) => i % 2 === 0).map(entry => entry.address)
  await mailroom.database.db
    .updateTable('email_events')
    .set({ occurred_at: sql`occurred_at - INTERVAL 25 HOUR` })
    .where('recipient', 'in', aDayAgo)
    .execute()

  const smooth: DeliveryPlan = { faults: [], ending: 'accept', reply: '', events: [], isEarly: false }
  for (const { address } of others) courses.set(address.toLowerCase(), smooth)
  for (const { address } of closed)
    courses.set(address.toLowerCase(), { ...smooth, ending: 'refuse at RCPT', reply: '550 5.2.1 Mailbox disabled' })
  await forEachConcurrently([...closed, ...others], entry => sendOne([entry.address]))
  await forEachConcurrently(suppressed, async ({ address }) => {
    const { status, json } = await post({ to: address })
    expect([status, json.error?.code]).toEqual([422, 'recipient_suppressed'])
    const fresh = newAddress(names++ + 10 * count)
    courses.set(fresh.toLowerCase(), smooth)
    const both = await post({ to: [address.toUpperCase().replace(/@.*/, value => value.toLowerCase()), fresh] })
    expect(both.json.recipients.map((one: { status: string }) => one.status)).toEqual(['suppressed', 'queued'])
    posted.push({ id: both.json.id, addresses: [fresh] })
  })
  await untilOutboxIsEmpty()
  const byAddress = entriesByAddress()
  expect(suppressed.filter(({ address }) => byAddress.get(address.toLowerCase())?.length !== 1)).toEqual([])
  return new Set(aDayAgo.flatMap(address => byAddress.get(address.toLowerCase())?.[1] ?? []))
}

test('despite every failure, in any order, each recipient ends with what the provider did, reported once, and suppressed if due', async () => {
  const began = performance.now()
  await firstWave()
  expect(reporter.unexpected.slice(0, 5)).toEqual([])
  await compareList(new Set())
  const closedTwice = await secondWave()
  await compareAll(closedTwice)
  const suppressed = await compareList(closedTwice)
  // That the provider closes again and again is told, and nothing is wrong else.
  expect(mailroom.log.filter(line => line.level >= 50 && line.msg !== 'relay circuit breaker opened')).toEqual([])
  const { sent, deferred } = reporter.counts()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(
    `${posted.length} emails, ${provider.ledger.size} recipients, ${sent} reports (${deferred} put off), ${suppressed} suppressed: ${seconds} s\n`,
  )
}, 120_000)
