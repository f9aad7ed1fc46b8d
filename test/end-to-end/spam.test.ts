import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Clock, plusMs, systemClock } from '../../src/base/clock.ts'
import { failureLog } from '../../src/base/observability/failure-log.ts'
import { changeMessages } from '../../src/inbox/messages/change-messages.ts'
import { queueLessons } from '../../src/inbox/spam-lessons/lessons.ts'
import { teachRound } from '../../src/inbox/spam-lessons/teach.ts'
import { formatDate } from '../../src/mail/date.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import type { SpamFilterInput, SpamSymbol } from '../../src/ports/spam-filter/port.ts'
import { askRspamd } from '../../src/ports/spam-filter/rspamd/http.ts'
import { type RspamdOptions, rspamdFilter } from '../../src/ports/spam-filter/rspamd/rspamd.ts'
import { isLong } from '../harness/amount.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import type { DnsZoneFile } from '../harness/dns.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { startRspamd, type TestRspamd } from '../harness/rspamd.ts'
import { testMember } from '../harness/session.ts'
import { deliverMessage } from '../harness/smtp-delivery.ts'
import { type CorpusMessage, corpusZone, makeCorpus } from '../harness/spam-corpus.ts'
import { loadSpamAssassinSamples } from '../harness/spamassassin-samples.ts'
import { until } from '../harness/until.ts'
import { type DoctorFixtures, openDoctorFixtures } from '../health/doctor/fixtures.ts'
import {
  fakeAuthenticator,
  inboundPipeline,
  inMemory,
  log,
  mailTo,
  messagesOf,
  receiver,
} from '../receiving/fixtures.ts'

/** Mailroom with a real rspamd and a real Redis. */
/** Debian's classifier begins to judge with 200 messages of each kind. */
const minLearned = isLong ? 200 : 40
const timeoutMs = 120_000

/** Says nothing about who may send for it. */
const letters: DnsZoneFile = { 'letters.example': { A: ['198.51.100.9'], MX: ['10 letters.example'] } }

let rspamd: TestRspamd
let mailroom: Mailroom
let doctor: DoctorFixtures
let database: FreshDatabase

beforeAll(async () => {
  rspamd = await startRspamd({ zone: { ...letters, ...corpusZone }, minLearned })
  process.stdout.write(`rspamd started in ${Math.round(rspamd.startMs)} ms\n`)
  const resolvers = `${rspamd.dns.host}:${rspamd.dns.port}`
  ;[mailroom, doctor, database] = await Promise.all([
    startMailroom({ ...rspamd.settings, MAILROOM_RESOLVERS: resolvers, MAILROOM_RSPAMD_TIMEOUT_SECONDS: '3' }),
    openDoctorFixtures(),
    freshDatabase(4),
  ])
}, timeoutMs)

afterAll(async () => {
  await Promise.all([mailroom?.stop(), doctor?.close(), database?.close()])
  await rspamd?.close()
}, timeoutMs)

const gtube = ['XJS*C4JDBQADN1.NSBN3*2IDNEN*', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('')
let last = 0

function letter(body: string, subject = 'Lunch'): string {
  const id = `<${++last}.${process.pid}@letters.example>`
  return `From: Ann <ann@letters.example>\r\nTo: hello@demo.test\r\nSubject: ${subject}\r\nDate: ${formatDate(Date.now())}\r\nMessage-ID: ${id}\r\n\r\n${body}\r\n`
}

const deliver = (body: string) => deliverMessage(mailroom, letter(body), { from: 'ann@letters.example' })
const ready = async () => (await mailroom.api('GET', '/ready')).json

async function learnedCount(): Promise<number> {
  const fields = [['Password', rspamd.password]] as const
  const request = { base: rspamd.controller, path: '/stat', fields, body: null, signal: AbortSignal.timeout(5000) }
  return JSON.parse((await askRspamd(request)).body).learned
}

test('GTUBE goes to spam and says why; a letter goes to the inbox with its score', async () => {
  const spam = await deliver(gtube)
  expect(spam).toMatchObject({ folder: 'spam', folder_reason: 'spam_filter 15 of 6', spam: { score: 15, required: 6 } })
  expect(spam.spam.symbols).toContainEqual({ name: 'GTUBE', score: 0 })
  const ham = await deliver('Are we still on for lunch tomorrow at noon?')
  expect(ham).toMatchObject({ folder: 'inbox', folder_reason: 'accepted', spam: { required: 6 } })
  expect(ham.spam.score).toBeLessThan(6)
  expect(ham.spam.symbols.map((symbol: { name: string }) => symbol.name)).toContain('MIME_GOOD')
})

test('an allowed sender’s GTUBE stays in the inbox, a blocked one’s letter does not', async () => {
  const list = (listing: string, sender: string) =>
    mailroom.database.db
      .insertInto('sender_listings')
      .values({
        organization_id: mailroom.demo.organization_id,
        entry: sender,
        listing: listing as 'allow',
        created_at: systemClock.now(),
      })
      .execute()
  await list('allow', 'letters.example')
  expect(await deliver(gtube)).toMatchObject({ folder: 'inbox', folder_reason: 'accepted', spam: { score: 15 } })
  await list('block', 'ann@letters.example')
  expect(await deliver('Lunch?')).toMatchObject({ folder: 'spam', folder_reason: 'sender_blocked' })
  await mailroom.database.db.deleteFrom('sender_listings').execute()
})

test('a message from the spool is streamed to it', async () => {
  const long = `${'Nothing but a long report about the harvest of last year. '.repeat(20)}\r\n`.repeat(600)
  const shown = await deliver(long)
  expect([shown.folder, shown.spam?.required, shown.size > 600_000]).toEqual(['inbox', 6, true])
})

test(
  'a message that is moved to spam through the API is learned',
  async () => {
    const before = await learnedCount()
    const { id } = await deliver(
      'The garden needs water on these hot days, could you look after the tomatoes and beans next week?',
    )
    expect((await mailroom.api('POST', `/v1/inbox/${id}/folder`, { folder: 'spam' })).status).toBe(200)
    await until(async () => (await learnedCount()) > before, { what: 'it was learned', withinMs: 30_000 })
    const lessons = () => mailroom.database.db.selectFrom('spam_lessons').selectAll().execute()
    await until(async () => (await lessons()).length === 0, { what: 'no lesson waits', withinMs: 30_000 })
  },
  timeoutMs,
)

test('doctor finds it, and says what has to be done when it is away or the password is wrong', async () => {
  expect(await doctor.run('rspamd', rspamd.settings)).toMatchObject({ level: 'ok' })
  expect(await doctor.run('spam_learning', rspamd.settings)).toMatchObject({ level: 'note' })
  expect((await doctor.run('spam_learning', { ...rspamd.settings, MAILROOM_RSPAMD_PASSWORD: 'wrong' })).level).toBe(
    'warning',
  )
  const away = { MAILROOM_RSPAMD: 'http://127.0.0.1:9', MAILROOM_RSPAMD_CONTROLLER: 'http://127.0.0.1:9' }
  expect((await doctor.run('rspamd', away)).level).toBe('warning')
  expect((await doctor.run('spam_learning', away)).level).toBe('warning')
  expect((await doctor.run('rspamd', {})).level).toBe('skipped')
})

const options = (): RspamdOptions => ({
  url: rspamd.url,
  controller: { url: rspamd.controller, password: rspamd.password },
  timeoutMs: 5000,
  maxConcurrentChecks: 4,
  maxBytes: 1_000_000,
  hostname: 'mail.demo.test',
})

const input = (text: string, more: Partial<SpamFilterInput> = {}): SpamFilterInput => ({
  id: 'msg_1',
  content: inMemory(text),
  remoteIp: '198.51.100.10',
  clientName: 'mx.sender0.example',
  helo: 'mx.sender0.example',
  mailFrom: 'ann@sender0.example',
  recipients: ['hello@demo.test', 'eve@demo.test'],
  ...more,
})

describe('the adapter', () => {
  test('tells rspamd who sent the message, from where and to whom', async () => {
    const namesOf = async (more: Partial<SpamFilterInput>) => {
      const check = await rspamdFilter(options()).check(input(letter('Lunch?'), more))
      return check.kind === 'checked' ? check.symbols.map(symbol => symbol.name) : check
    }
    expect(await namesOf({})).toEqual(expect.arrayContaining(['R_SPF_ALLOW', 'FROM_NEQ_ENVFROM']))
    expect(await namesOf({})).not.toContain('HFILTER_HOSTNAME_UNKNOWN')
    expect(await namesOf({ clientName: null })).toContain('HFILTER_HOSTNAME_UNKNOWN')
    expect(await namesOf({ remoteIp: '203.0.113.5' })).toContain('R_SPF_FAIL')
    expect(await namesOf({ mailFrom: '' })).not.toContain('FROM_NEQ_ENVFROM')
    expect(await namesOf({ helo: 'a\r\nFrom: <x@y>' })).toContain('R_SPF_ALLOW')
    expect(await namesOf({ mailFrom: 'grüße@sender0.example' })).toContain('MIME_GOOD')
  })

  test('does not ask about what is empty or too large, and checks many at once without an error', async () => {
    const filter = rspamdFilter(options())
    const refused = { kind: 'unchecked', isUnavailable: false }
    expect(await filter.check(input(''))).toMatchObject(refused)
    expect(await filter.check(input('x'.repeat(1_000_001)))).toMatchObject(refused)
    const checks = await Promise.all(Array.from({ length: 40 }, (_, n) => filter.check(input(letter(`Number ${n}`)))))
    expect(checks.filter(check => check.kind !== 'checked')).toEqual([])
  })

  test('says what came of a lesson', async () => {
    const learn = async (text: string, more: Partial<RspamdOptions> = {}) => {
      const bytes = (async function* () {
        yield Buffer.from(text)
      })()
      const { learn } = rspamdFilter({ ...options(), ...more })
      return (await learn?.('ham', { size: text.length, bytes }, new AbortController().signal)) ?? null
    }
    const text = letter('The choir rehearses on Mondays at seven in the parish hall, and bring your own music please.')
    expect(await learn(text)).toEqual({ kind: 'learned' })
    expect(await learn(text)).toEqual({ kind: 'learned' })
    expect(await learn(letter('Hi'))).toMatchObject({ kind: 'refused', why: expect.stringContaining('less tokens') })
    const controller = { url: rspamd.controller, password: 'wrong' }
    expect(await learn(text, { controller })).toMatchObject({
      kind: 'unavailable',
      why: expect.stringContaining('401'),
    })
    expect(await learn(text, { controller: null })).toBeNull()
  })
})

describe('a corpus', () => {
  const held = { spam: { spam: 0, total: 0 }, ham: { spam: 0, total: 0 } }

  test(
    'teaches it by moves, after which the spam of the other half goes to spam, and no ham',
    async () => {
      const shop = await receiver(database)
      await shop.mailbox('')
      const { db } = database
      const filter = rspamdFilter({ ...options(), maxConcurrentChecks: 8 })
      const receive = async ({ text, from }: CorpusMessage) => {
        const inbound = inboundPipeline(shop, {
          spamFilter: filter,
          authenticator: fakeAuthenticator({ from: [from] }),
        })
        const recipient = await inbound.findRecipient(`hello@${shop.domain}`)
        const host = from.slice(from.indexOf('@') + 1)
        const envelope = {
          mailFrom: from,
          remoteIp: `198.51.100.${10 + Number(/\d/.exec(host)?.[0])}`,
          helo: `mx.${host}`,
        }
        await inbound.receive(mailTo([recipient], inMemory(text), envelope))
      }
      const receiveAll = async (corpus: readonly CorpusMessage[]) => {
        for (let at = 0; at < corpus.length; at += 16) await Promise.all(corpus.slice(at, at + 16).map(receive))
        return (await messagesOf(shop)).filter(row => corpus.some(({ text }) => text.includes(row.message_id ?? '?')))
      }
      // Spam that is in its folder before anybody moves it teaches nothing.
      const taught = await receiveAll(makeCorpus(1, Math.ceil(1.3 * minLearned)))
      const spamBefore = taught.filter(row => row.folder === 'spam')
      const caller = testMember(shop.organizationId)
      const deps = { db, beforeMove: queueLessons(systemClock) }
      const move = (kind: string, folder: 'spam' | 'inbox' | 'archive') =>
        changeMessages(deps, caller, {
          ids: taught.filter(row => row.message_id?.startsWith(`${kind}-`)).map(row => row.id),
          folder,
        })
      // Ham is taught by what was taken for spam and moved back.
      await move('ham', 'spam')
      await move('ham', 'inbox')
      await move('spam', 'spam')
      const inAMinute: Clock = { now: () => plusMs(systemClock.now(), 60_000) }
      const teaching = {
        db,
        blobs: mysqlBlobs(db, systemClock),
        clock: inAMinute,
        failures: failureLog(log, {}, { failed: '', recovered: '' }),
      }
      const learn = filter.learn
      if (!learn) throw new Error('it does not learn')
      while ((await teachRound({ ...teaching, learn }, new AbortController().signal)) === 'more');
      expect(await db.selectFrom('spam_lessons').selectAll().execute()).toEqual([])

      for (const row of await receiveAll(makeCorpus(2, isLong ? 250 : 40))) {
        const count = held[row.message_id?.startsWith('spam-') ? 'spam' : 'ham']
        count.total++
        if (row.folder === 'spam') count.spam++
      }
      process.stdout.write(
        `before it learned, ${spamBefore.length} of ${taught.length} messages went to spam; then ` +
          `${held.spam.spam} of ${held.spam.total} of spam and ${held.ham.spam} of ${held.ham.total} of ham\n`,
      )
      expect(held.spam.spam / held.spam.total).toBeGreaterThanOrEqual(0.95)
      expect(held.ham).toMatchObject({ spam: 0 })
    },
    timeoutMs,
  )
})

const timedDelivery = async () => {
  const startedMs = performance.now()
  const shown = await deliver('Are you coming?')
  return { ms: performance.now() - startedMs, isChecked: shown.spam !== null, folder: shown.folder }
}

const isCheckedAgain = () =>
  until(async () => (await timedDelivery()).isChecked, { what: 'it is asked again', withinMs: 20_000 })

describe('while rspamd', () => {
  test(
    'hangs, messages in flight wait for their time limit and no others, and /ready says so',
    async () => {
      rspamd.signal('SIGSTOP')
      try {
        const inFlight = await Promise.all(Array.from({ length: 6 }, timedDelivery))
        for (const { ms, isChecked, folder } of inFlight) {
          expect([isChecked, folder]).toEqual([false, 'inbox'])
          expect(ms).toBeLessThan(6000)
        }
        for (let count = 0; count < 5; count++) expect((await timedDelivery()).ms).toBeLessThan(1500)
        const parts = await ready()
        expect(parts).toMatchObject({ status: 'ready', spam_filter: { ready: false } })
        expect(parts.spam_filter.detail).toContain('mail is filed without it')
      } finally {
        rspamd.signal('SIGCONT')
      }
      await isCheckedAgain()
      expect(await ready()).toMatchObject({ status: 'ready', spam_filter: { ready: true, detail: null } })
      const isLogged = (text: string) => until(() => mailroom.log.some(line => line.msg === text), { what: text })
      await isLogged('the spam filter does not answer: messages are filed without its check')
      await isLogged('the spam filter checks messages again')
    },
    timeoutMs,
  )

  test(
    'is killed in mid-flight, each message is filed at once, and it is asked again once it is back',
    async () => {
      rspamd.signal('SIGSTOP')
      const inFlight = Array.from({ length: 6 }, timedDelivery)
      await Bun.sleep(700)
      rspamd.signal('SIGKILL')
      for (const { ms, isChecked, folder } of await Promise.all(inFlight)) {
        expect([isChecked, folder]).toEqual([false, 'inbox'])
        expect(ms).toBeLessThan(2700)
      }
      expect(await timedDelivery()).toMatchObject({ isChecked: false, folder: 'inbox' })
      await rspamd.start()
      await isCheckedAgain()
    },
    timeoutMs,
  )
})

test.skipIf(!isLong)('the examples of SpamAssassin go where they belong', async () => {
  const samples = loadSpamAssassinSamples()
  const spam = await deliverMessage(mailroom, samples.spam, { from: 'sender@example.net' })
  const ham = await deliverMessage(mailroom, samples.ham, { from: 'tbtf-approval@world.std.com' })
  for (const [name, { folder, spam: found }] of Object.entries({ spam, ham })) {
    const symbols = found.symbols.map((symbol: SpamSymbol) => `${symbol.name} ${symbol.score}`).join(', ')
    process.stdout.write(`SpamAssassin’s ${name}: ${found.score} of ${found.required}, to ${folder}: ${symbols}\n`)
  }
  expect([spam.folder, ham.folder]).toEqual(['spam', 'inbox'])
})
