import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { startJob } from '../../../src/base/concurrency/background-job.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { selectVerifiedReturnPaths } from '../../../src/domains/return-path-table.ts'
import { readReport } from '../../../src/mail/reports/read-report.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { Provider } from '../../../src/ports/provider/port.ts'
import { sandboxProvider } from '../../../src/ports/provider/sandbox.ts'
import {
  deliverReportsRound,
  type ReportDeliveryDeps,
  storeReports,
} from '../../../src/ports/provider/simulator/deliver-reports.ts'
import { withSimulator } from '../../../src/ports/provider/simulator/simulator.ts'
import type { SimulatedReport } from '../../../src/ports/provider/simulator/table.ts'
import { presetNames, presetOf } from '../../../src/ports/provider/smarthost/presets.ts'
import { clamdScanner } from '../../../src/ports/scanner/clamd.ts'
import { simulatedMail } from '../../../src/receiving/reports/simulated-mail.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { recordProviderEvents } from '../../../src/sending/reports/provider-events.ts'
import { newReturnPaths } from '../../../src/sending/reports/return-path.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys, testSecrets } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'
import { messagesOf, receiver } from '../../receiving/fixtures.ts'
import { submission } from './contract.ts'

let database: FreshDatabase
const ends: (() => unknown)[] = []

beforeAll(async () => {
  database = await freshDatabase(8)
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(() => database.close())

const log = pino({ level: 'silent' })
const returnPaths = newReturnPaths(testSecrets)
const hostname = 'mail.test'
const clamd = (process.env['MAILROOM_TEST_CLAMD'] ?? '').replace(/^unix:/, '')
const scanner = clamdScanner({ address: { kind: 'unix', path: clamd }, timeoutMs: 20_000, maxConcurrentScans: 4 })

/** Starts a relay worker with the simulator in front of `real`, and, unless `!delivers`, the delivery of its reports. */
function startWorker(real: Provider, delivers = true): void {
  const { db } = database
  const blobs = mysqlBlobs(db, systemClock)
  const provider = withSimulator(real, {
    clock: systemClock,
    log,
    storeReports: storeReports({ db, clock: systemClock }),
  })
  const relay = startRelay({
    db,
    blobs,
    provider,
    signingKeys,
    reversePaths: { returnPaths, findHosts: selectVerifiedReturnPaths, ownHost: hostname },
    clock: systemClock,
    log,
    attemptMs: 5000,
    retryFirstMs: 60_000,
  })
  if (delivers) startDelivery()
  ends.push(
    () => provider.close(),
    () => relay.stop(),
  )
}

/** Delivers the simulator's reports until the test ends. */
function startDelivery(): void {
  const { db } = database
  const deps = { db, blobs: mysqlBlobs(db, systemClock), scanner, clock: systemClock, log }
  const delivery: ReportDeliveryDeps = {
    ...deps,
    ...simulatedMail({ ...deps, bounces: { returnPaths, hostname } }),
    recordEvents: events => recordProviderEvents({ db, clock: systemClock, log }, 'simulator', events),
  }
  const telling = startJob({ name: 'simulator-reports', intervalMs: 20, log }, signal =>
    deliverReportsRound(delivery, signal),
  )
  ends.push(() => telling.stop())
}

async function accept(sender: SendingDomain, to: string): Promise<Id<'eml'>> {
  const { db } = database
  const [id] = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), sender, systemClock.now(), [{ to: [to] }])
  if (!id) throw new Error('nothing was accepted')
  return id
}

async function statusBecomes(id: Id<'eml'>, status: string): Promise<void> {
  const select = database.db.selectFrom('emails').select('status').where('id', '=', id)
  const current = async () => (await select.executeTakeFirst())?.status
  await until(async () => (await current()) === status, {
    what: `the email is ${status}`,
    details: async () => `it is ${await current()}`,
  })
}

const ways = [
  ['delivered@simulator.test', 'delivered', undefined],
  ['bounce+1@simulator.test', 'bounced', 'hard_bounce'],
  ['softbounce@simulator.test', 'bounced', undefined],
  ['complaint@simulator.test', 'complained', 'complaint'],
  ['delay@simulator.test', 'delayed', undefined],
  ['reject@simulator.test', 'rejected', undefined],
  ['ooto@simulator.test', 'delivered', undefined],
] as const

test.each(['sandbox', ...presetNames])(
  '%s: simulated recipients behave as their names say, and no relay sees them',
  async name => {
    const sink = await startScriptedRelay()
    ends.push(() => sink.close())
    const sender = await createSendingDomain(database.db, systemClock.now(), `${name}.test`)
    const preset = presetNames.find(presetName => presetName === name)
    startWorker(
      preset ? testSmarthost(sink.url, { preset: presetOf(preset, true) }) : sandboxProvider({ store: async () => {} }),
    )
    await Promise.all(
      ways.map(async ([to, status, reason]) => {
        const id = await accept(sender, to)
        await statusBecomes(id, status)
        const suppression = await database.db
          .selectFrom('suppressions')
          .select(['reason', 'source_email_id'])
          .where('email', '=', to)
          .where('brand_id', '=', sender.brandId)
          .executeTakeFirst()
        expect(suppression).toEqual((reason && { reason, source_email_id: id }) as never)
      }),
    )
    expect(sink.accepted).toEqual([])
  },
  60_000,
)

test('a soft bounce is transient, and suppresses nobody', async () => {
  const sender = await createSendingDomain(database.db, systemClock.now(), 'soft.test')
  startWorker(sandboxProvider({ store: async () => {} }))
  const id = await accept(sender, 'softbounce@simulator.test')
  await statusBecomes(id, 'bounced')
  const event = await database.db
    .selectFrom('email_events')
    .select('bounce')
    .where('email_id', '=', id)
    .where('type', '=', 'bounced')
    .executeTakeFirstOrThrow()
  expect(fromJson(event.bounce ?? '{}')).toMatchObject({ type: 'transient', suppressed: false })
})

async function reportsOf(...recipients: string[]) {
  const reports: SimulatedReport[] = []
  const submitted: string[] = []
  const provider = withSimulator(
    sandboxProvider({ store: async submission => void submitted.push(...submission.recipients) }),
    {
      clock: systemClock,
      log,
      storeReports: async stored => void reports.push(...stored),
    },
  )
  const outcomes = await provider.submit(submission({ mailFrom: 'b+x@bounce.shop.test', recipients }))
  return { mails: reports.map(report => report.mail), submitted, outcomes }
}

test('reports go to the reverse-path, in the standard formats', async () => {
  const { mails } = await reportsOf(
    'delivered@simulator.test',
    'bounce@simulator.test',
    'softbounce+a@simulator.test',
    'complaint@simulator.test',
    'ooto@simulator.test',
  )
  expect(new Set(mails.map(mail => mail.rcptTo))).toEqual(new Set(['b+x@bounce.shop.test']))
  const reports = mails.map(mail => readReport(mail.message))
  expect(
    reports.map(report => [report.kind, report.recipients[0]?.finalRecipient, report.recipients[0]?.enhancedCode]),
  ).toEqual([
    ['delivered', 'delivered@simulator.test', '2.0.0'],
    ['bounce', 'bounce@simulator.test', '5.1.1'],
    ['bounce', 'softbounce+a@simulator.test', '4.2.2'],
    ['delivered', 'complaint@simulator.test', '2.0.0'],
    ['complaint', 'complaint@simulator.test', null],
    ['delivered', 'ooto@simulator.test', '2.0.0'],
    ['auto-reply', undefined, undefined],
  ] as never)
  expect(reports[1]?.envelopeId).toBe(submission().emailId)
})

test('defers a message whose reports could not be stored', async () => {
  const provider = withSimulator(sandboxProvider({ store: async () => {} }), {
    clock: systemClock,
    log,
    storeReports: () => Promise.reject(new Error('no room')),
  })
  const recipients = ['a@x.test', 'bounce@simulator.test']
  const outcomes = await provider.submit(submission({ recipients }))
  expect(outcomes.map(outcome => [outcome.kind, outcome.reply.code])).toEqual([
    ['accepted', 250],
    ['deferred', 451],
  ])
})

const pendingReports = () => database.db.selectFrom('simulated_reports').selectAll().execute()
const eventsOf = (id: Id<'eml'>) =>
  database.db.selectFrom('email_events').select('type').where('email_id', '=', id).orderBy('id').execute()

test('reports that a process did not deliver before it died are delivered by the next one, once', async () => {
  const sender = await createSendingDomain(database.db, systemClock.now(), 'died.test')
  startWorker(sandboxProvider({ store: async () => {} }), false)
  const bounced = await accept(sender, 'bounce@simulator.test')
  const complained = await accept(sender, 'complaint@simulator.test')
  for (const id of [bounced, complained]) await statusBecomes(id, 'sent')
  const left = await pendingReports()
  expect(left.map(report => report.kind).sort()).toEqual(['complaint', 'status', 'status'])
  startDelivery()
  await statusBecomes(bounced, 'bounced')
  await statusBecomes(complained, 'complained')
  await untilAllDelivered()
  // As if the process had died after delivering the reports, and before deleting them.
  await database.db.insertInto('simulated_reports').values(left).execute()
  await untilAllDelivered()
  expect((await eventsOf(bounced)).map(event => event.type)).toEqual(['sent', 'bounced'])
  expect((await eventsOf(complained)).map(event => event.type).sort()).toEqual(['complained', 'delivered', 'sent'])
}, 30_000)

async function untilAllDelivered(): Promise<void> {
  await until(async () => (await pendingReports()).length === 0)
}

test('with a reverse-path that is not ours, an out-of-office reply comes to the mailbox of the sender', async () => {
  const shop = await receiver(database)
  const mailboxId = await shop.mailbox('hello')
  await database.db
    .insertInto('dkim_keys')
    .values({ ...(await anyKey()), domain_id: shop.domainId })
    .execute()
  const sink = await startScriptedRelay()
  ends.push(() => sink.close())
  startWorker(testSmarthost(sink.url, { preset: presetOf('postmark', true) }))
  const away = await accept(shop, 'ooto@simulator.test')
  const nobody = await accept({ ...shop, domain: 'nobody.test' }, 'ooto@simulator.test')
  for (const id of [away, nobody]) await statusBecomes(id, 'delivered')
  await untilAllDelivered()
  expect(await messagesOf(shop)).toMatchObject([
    {
      mailbox_id: mailboxId,
      folder: 'inbox',
      folder_reason: 'auto_reply',
      from_address: 'ooto@simulator.test',
      subject: 'Out of office',
      in_reply_to_email_id: null,
      scan: 'clean',
    },
  ])
}, 30_000)

async function anyKey() {
  const { domainId } = await createSendingDomain(database.db, systemClock.now(), 'keys.test')
  const keys = database.db.selectFrom('dkim_keys').selectAll()
  return await keys.where('domain_id', '=', domainId).executeTakeFirstOrThrow()
}

test('real recipients of the same message are submitted, each with its own outcome', async () => {
  const { submitted, outcomes } = await reportsOf(
    'a@x.test',
    'reject@simulator.test',
    'b@x.test',
    'nobody@simulator.test',
  )
  expect(submitted).toEqual(['a@x.test', 'b@x.test'])
  expect(outcomes.map(outcome => [outcome.kind, outcome.reply.code])).toEqual([
    ['accepted', 250],
    ['failed', 554],
    ['accepted', 250],
    ['failed', 550],
  ])
})
