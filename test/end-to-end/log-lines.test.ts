import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { type PrivateMariadb, startMariadb } from '../../src/cli/private/mariadb.ts'
import { type LogLine, type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { makeMemoryFolder } from '../harness/memory-folder.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { canMountDisks, openSmallDisk, type SmallDisk } from '../harness/small-disk.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** What an operator reads in the log on a day with ordinary trouble, one kind after the other. */
const serverKey = 'MAILROOM_TEST_DATABASE_URL'
const usualServer = process.env[serverKey]
const folder = makeMemoryFolder('mailroom-log-')
const clamdFolder = join(folder, 'clamd')
const databaseFolder = join(folder, 'mariadb')
const minFreeBytes = 4 * 1024 * 1024

let mariadb: PrivateMariadb
let clamd: PrivateClamd
let relay: ScriptedRelay
let disk: SmallDisk | undefined
let mailroom: Mailroom

beforeAll(async () => {
  if (canMountDisks) disk = openSmallDisk(32 * 1024 * 1024)
  ;[mariadb, clamd, relay] = await Promise.all([
    startMariadb({ folder: databaseFolder }),
    startClamd({ folder: clamdFolder }),
    startScriptedRelay(),
  ])
  process.env[serverKey] = mariadb.url
  mailroom = await startMailroom({
    MAILROOM_CLAMD: clamd.address,
    MAILROOM_SCAN_WAIT_SECONDS: '0',
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_LEAST_FREE_BYTES: String(minFreeBytes),
    ...(disk && { MAILROOM_VAR: disk.path }),
  })
}, 120_000)

afterAll(async () => {
  await mailroom?.stop()
  await Promise.all([mariadb?.stop(), clamd?.stop(), relay?.close()])
  disk?.close()
  if (usualServer === undefined) delete process.env[serverKey]
  else process.env[serverKey] = usualServer
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

const levels: Readonly<Record<number, string>> = { 30: 'info', 40: 'warning', 50: 'error', 60: 'fatal' }

/** Does what brings the trouble, waits for the line of the log, prints what was logged meanwhile, and gives its warnings and errors. */
async function warningsOf(what: string, trouble: () => Promise<unknown>, message: string): Promise<readonly LogLine[]> {
  const from = mailroom.log.length
  await trouble()
  const lines = () => mailroom.log.slice(from)
  await until(() => lines().some(line => line.msg.startsWith(message)), {
    what: message,
    withinMs: 30_000,
    details: () => lines().map(line => line.msg),
  })
  const printed = lines().map(line => `  ${levels[line.level]}: ${line.msg}  ${detailsOf(line)}\n`)
  process.stdout.write(`${what}:\n${printed.join('')}`)
  return lines().filter(line => line.level >= 40)
}

function detailsOf({ level: _, time: _t, pid: _p, hostname: _h, msg: _m, err, ...details }: LogLine): string {
  const error = typeof err === 'string' ? err : (err as { readonly message?: string } | undefined)?.message
  return JSON.stringify({ ...details, ...(error !== undefined && { error }) })
}

const messagesOf = (lines: readonly LogLine[]) => [...new Set(lines.map(line => line.msg))]

const letter = (subject: string) =>
  `From: you@friend.test\r\nMessage-ID: <${subject}@friend.test>\r\nDate: Mon, 1 Feb 2027 08:00:00 +0000\r\nSubject: ${subject}\r\n\r\nHi\r\n`

async function send(to: string): Promise<string> {
  const { json } = await mailroom.api('POST', '/v1/emails', { from: 'hello@demo.test', to, subject: 'Hi', text: 'Hi' })
  return json.id
}

test('the relay refuses our account: one error with its reply, and one line when it accepts again', async () => {
  relay.setScript({ mail: '554 5.7.1 Account suspended' })
  const recipients = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => `${name}@dest.example`)
  const opened = 'relay circuit breaker opened'
  const lines = await warningsOf('The relay refuses our account', () => Promise.all(recipients.map(send)), opened)
  expect(lines).toMatchObject([{ level: 50, phase: 'mail', reply: '554 5.7.1 Account suspended' }])
  const accept = async () => relay.setScript({})
  expect(await warningsOf('It accepts again', accept, 'relay circuit breaker closed')).toEqual([])
}, 60_000)

test('a bounce is no warning', async () => {
  const id = await send('bob@dest.example')
  await until(() => groupByEmail(relay.accepted).has(id))
  const [relayed] = groupByEmail(relay.accepted).get(id) ?? []
  const report = readFileSync(join(import.meta.dir, '../fixtures/reports/postfix.eml'))
  const bounce = () => sendMail(mailroom.smtp, report, { from: '', to: [relayed?.from ?? ''] })
  expect(await warningsOf('A bounce', bounce, 'recorded a delivery report')).toEqual([])
})

test('clamd is away: one error that says what becomes of messages, and one line when it is back', async () => {
  await clamd.stop()
  const deliver = async () => {
    for (const subject of ['one', 'two', 'three']) await sendMail(mailroom.smtp, letter(subject))
  }
  const away = 'messages cannot be scanned'
  const lines = await warningsOf('clamd is away', deliver, away)
  expect(messagesOf(lines)).toEqual([expect.stringContaining('wait in quarantine')])
  expect(lines).toHaveLength(1)
  clamd = await startClamd({ folder: clamdFolder })
  const again = () => sendMail(mailroom.smtp, letter('four'))
  expect(await warningsOf('clamd is back', again, 'messages are scanned again')).toEqual([])
}, 60_000)

test.if(canMountDisks)(
  'the disk is full, then has space',
  async () => {
    const fill = async () => disk?.fillUntilFree(minFreeBytes / 2)
    const full = await warningsOf('The disk is full', fill, 'the disk is full')
    expect(full).toMatchObject([{ level: 50, min_free_bytes: minFreeBytes }])
    await warningsOf('The disk has space again', async () => disk?.empty(), 'the disk has space again')
  },
  60_000,
)

test('the database is away: a line for each that waits for it, not one for each try', async () => {
  const from = mailroom.log.length
  await warningsOf('The database is away', () => mariadb.stop(), 'background job failed')
  const failing = () => mailroom.log.slice(from).filter(line => line.level >= 50)
  await until(() => failing().some(line => line['job'] === 'search-index') && failing().length >= 3)
  expect(await sendMail(mailroom.smtp, letter('lost')).catch(String)).toMatch(/^(451|421) /)
  mariadb = await startMariadb({ folder: databaseFolder })
  await until(() => mailroom.log.slice(from).some(line => line.msg === 'background job works again'))
  await until(async () => (await sendMail(mailroom.smtp, letter('found'))).startsWith('250 '), { withinMs: 60_000 })
  const jobs = failing().map(line => line['job'])
  expect(jobs.filter(job => job === 'search-index')).toHaveLength(1)
}, 120_000)

test('no line names an address of mail or a subject', () => {
  for (const line of mailroom.log) expect(JSON.stringify(line)).not.toMatch(/@dest\.example|@friend\.test|"subject"/)
})
