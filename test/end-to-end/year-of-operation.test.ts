import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type Database, openDatabase } from '../../src/base/database/database.ts'
import { createDemo, demoDomain } from '../../src/cli/demo.ts'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { type PrivateMariadb, startMariadb } from '../../src/cli/private/mariadb.ts'
import { withoutProgress } from '../harness/backups.ts'
import { createTestAuthority, type TestAuthority } from '../harness/certificates.ts'
import { runCommand } from '../harness/cli.ts'
import { type MailroomProcess, startProcess, testSettings } from '../harness/mailroom.ts'
import { makeMemoryFolder } from '../harness/memory-folder.ts'
import { type PreviousVersion, unpackPreviousVersion } from '../harness/previous-version.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import {
  messageIdOf,
  type RetryingClients,
  retryUntilSettled,
  startRetryingClients,
} from '../harness/retrying-clients.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { openSmallDisk, type SmallDisk } from '../harness/small-disk.ts'
import { childEnvironment } from '../harness/up.ts'

/** A year of operation, with a small disk for the spool, two database servers, and mail all the time. */
const MiB = 1024 * 1024
const host = `mail.${demoDomain}`
const pauseMs = 100
const giveUpMs = 110_000
const moreEachStep = 20

let folder: string
let disk: SmallDisk
let root: TestAuthority
let previous: PreviousVersion
let mariadb: PrivateMariadb
let clamd: PrivateClamd
let relay: ScriptedRelay
let database: Database
let settings: Record<string, string>
let mailroom: MailroomProcess
let key: string
let mail: RetryingClients

beforeAll(async () => {
  folder = makeMemoryFolder('mailroom-year-')
  disk = openSmallDisk(64 * MiB)
  root = createTestAuthority()
  previous = unpackPreviousVersion()
  relay = await startScriptedRelay()
  mariadb = await startMariadb({ folder: join(folder, 'mariadb') })
  clamd = await startClamd({ folder: join(folder, 'clamd') })
  database = openDatabase(mariadb.url, 2)
  settings = {
    ...testSettings(mariadb.url, disk.path),
    MAILROOM_CLAMD: clamd.address,
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_SCAN_WAIT_SECONDS: '1',
    MAILROOM_TLS_CERT: join(folder, 'chain.pem'),
    MAILROOM_TLS_KEY: join(folder, 'key.pem'),
  }
  putCertificate()
}, 120_000)

afterAll(async () => {
  mail?.stop()
  await mailroom?.kill('SIGTERM')
  await database?.close()
  await clamd?.stop()
  await mariadb?.stop()
  await relay?.close()
  previous?.remove()
  root?.close()
  disk?.close()
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

function putCertificate(): string {
  const { chain, key: privateKey } = root.issue([host])
  writeFileSync(join(folder, 'key.pem'), privateKey)
  writeFileSync(join(folder, 'chain.pem'), chain)
  return chain
}

async function command(...args: string[]) {
  const ran = await runCommand([...args, '--json'], settings)
  expect([ran.status, withoutProgress(ran.err)]).toEqual([0, ''])
  return JSON.parse(ran.out)
}

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(`${mailroom.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, json: (await response.json()) as any }
}

/** Waits until a number of further emails and messages have been acknowledged. */
async function mailFlows(): Promise<void> {
  const [emails, messages] = [mail.acceptedEmails.size + moreEachStep, mail.acceptedMessages.size + moreEachStep]
  const isEnough = async () =>
    (mail.acceptedEmails.size >= emails && mail.acceptedMessages.size >= messages) || undefined
  await retryUntilSettled(isEnough, 'mail that flows', giveUpMs)
}

/** The certificate of the SMTP server after STARTTLS. */
function shownCertificate(): string {
  const at = ['-connect', `127.0.0.1:${mailroom.smtp}`, '-servername', host]
  const shown = Bun.spawnSync(['openssl', 's_client', '-starttls', 'smtp', ...at], { stdin: new Blob(['QUIT\r\n']) })
  return /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(shown.stdout.toString())?.[0] ?? ''
}

const firstOf = (chain: string) => /^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/m.exec(chain)?.[0]

test('the previous version is installed', async () => {
  mailroom = await startProcess(settings, previous.path)
  const made = async (...args: string[]) => {
    const program = [join(previous.path, 'mailroom'), ...args, '--json']
    return JSON.parse(await new Response(Bun.spawn(program, { env: childEnvironment(settings) }).stdout).text())
  }
  const { id } = await made('org', 'create', 'Demo', '--plan', 'unlimited')
  key = (await made('key', 'create', '--org', id)).key
  await createDemo({ base: mailroom.http, key }, database.db)
  const clients = { count: Number.MAX_SAFE_INTEGER, clientsPerProtocol: 2, pauseMs, giveUpMs }
  mail = startRetryingClients({ ...clients, key, http: () => mailroom.http, smtp: () => mailroom.smtp })
  await mailFlows()
}, 120_000)

test('it is upgraded from the tables of the previous version', async () => {
  expect(await mailroom.kill('SIGTERM')).toBe(0)
  // The version before knows nothing of it, and this disk is smaller than what is kept free otherwise.
  settings = { ...settings, MAILROOM_LEAST_FREE_BYTES: String(16 * MiB) }
  mailroom = await startProcess(settings)
  expect(mailroom.log.map(logLine => logLine.msg)).toContain('migrated the database')
  await mailFlows()
}, 120_000)

test('its certificate is replaced', async () => {
  const before = shownCertificate()
  expect(before).toContain('BEGIN CERTIFICATE')
  const chain = putCertificate()
  await retryUntilSettled(async () => shownCertificate() === firstOf(chain) || undefined, 'the new certificate')
  expect(shownCertificate()).not.toBe(before)
  await mailFlows()
}, 120_000)

test('its DKIM key is rotated', async () => {
  await command('domain', 'rotate-dkim', demoDomain)
  const keys = database.db.selectFrom('dkim_keys').select(['selector', 'state'])
  expect((await keys.execute()).length).toBe(2)
  await mailFlows()
  const signed = relay.accepted.slice(-moreEachStep).map(relayedMessage => relayedMessage.wire.toString('latin1'))
  for (const value of signed) expect(value).toContain('DKIM-Signature:')
}, 120_000)

test('clamd dies and comes back: mail received meanwhile waits in quarantine until it is scanned', async () => {
  process.kill(clamd.pid, 'SIGKILL')
  await mailFlows()
  const waiting = database.db.selectFrom('messages').select('id').where('scan', '=', 'error')
  expect((await waiting.execute()).length).toBeGreaterThan(0)
  clamd = await startClamd({ folder: join(folder, 'clamd') })
  await command('quarantine', 'rescan', ...(await waiting.execute()).map(({ id }) => id))
  await retryUntilSettled(async () => (await waiting.execute()).length === 0 || undefined, 'the later scans', giveUpMs)
  await mailFlows()
}, 240_000)

test('its database is restarted', async () => {
  await mariadb.stop()
  // Mail meets a database that is down.
  await Bun.sleep(1000)
  mariadb = await startMariadb({ folder: join(folder, 'mariadb') })
  expect(mariadb.url).toBe(settings['MAILROOM_DATABASE_URL'] ?? '')
  await mailFlows()
}, 240_000)

test('backed up while mail flows, then moved: the last backup is restored on another server, and nothing is sent twice', async () => {
  const backups = join(folder, 'backups')
  await command('backup', backups)
  // What the relay does not get any more waits in the queue, and in the backup.
  await command('queue', 'hold', '--all', '--reason', 'moving')
  expect(await mailroom.kill('SIGTERM')).toBe(0)
  const { id } = await command('backup', backups, '--pace', '100')
  const { keys } = await allKeys()
  await database.close()
  await mariadb.stop()
  rmSync(join(folder, 'mariadb'), { recursive: true })

  mariadb = await startMariadb({ folder: join(folder, 'elsewhere') })
  settings = { ...settings, MAILROOM_DATABASE_URL: mariadb.url }
  database = openDatabase(mariadb.url, 2)
  expect(await command('restore', backups)).toMatchObject({ id })
  for (const key of keys) await command('key', 'enable', key)
  await command('queue', 'release', '--all')
  mailroom = await startProcess(settings)
  await mailFlows()
  const verified = await command('backup', 'verify', backups)
  expect(verified).toMatchObject({ id })
}, 300_000)

async function allKeys(): Promise<{ readonly keys: readonly string[] }> {
  const rows = await database.db.selectFrom('api_keys').select('id').execute()
  return { keys: rows.map(row => row.id) }
}

test('retention deletes what has expired, and nothing else', async () => {
  const old = await database.db.selectFrom('messages').select('id').orderBy('id').limit(5).execute()
  const ids = old.map(message => message.id)
  for (const id of ids) expect((await ask('DELETE', `/v1/inbox/${id}`)).status).toBe(200)
  await sql`UPDATE messages SET folder_since = UTC_TIMESTAMP(6) - INTERVAL 31 DAY WHERE folder = 'trash'`.execute(
    database.db,
  )
  const rows = await database.db.selectFrom('messages').select('message_id').where('id', 'in', ids).execute()
  for (const { message_id } of rows) removed.add(message_id ?? '')
  await command('retention', 'run')
  const left = await database.db.selectFrom('messages').select('id').where('id', 'in', ids).execute()
  expect(left).toEqual([])
  await mailFlows()
}, 120_000)

/** What this test deleted, by Message-ID. */
const removed = new Set<string>()

test('the disk fills up, and mail waits until there is space again', async () => {
  mkdirSync(join(disk.path, 'other'), { recursive: true })
  writeFileSync(join(disk.path, 'other', 'file'), Buffer.alloc(52 * MiB))
  const refused = async () => {
    const email = { from: 'hello@demo.test', to: 'late@friend.test', subject: 'Late', text: 'Late' }
    const { status, json } = await ask('POST', '/v1/emails', email)
    return status === 500 && json.error.code === 'unavailable' ? true : undefined
  }
  await retryUntilSettled(refused, 'a full disk that is noticed')
  // What had passed the check before is still accepted.
  await Bun.sleep(500)
  const [emails, messages] = [mail.acceptedEmails.size, mail.acceptedMessages.size]
  // A second in which nothing may be accepted.
  await Bun.sleep(1000)
  expect([mail.acceptedEmails.size - emails, mail.acceptedMessages.size - messages]).toEqual([0, 0])
  rmSync(join(disk.path, 'other'), { recursive: true })
  await mailFlows()
}, 240_000)

test('every acknowledged message and email is there, sent once', async () => {
  mail.stop()
  await mail.done
  const { db } = database
  const waiting = db.selectFrom('outbox').select('id')
  await retryUntilSettled(
    async () => (await waiting.execute()).length === 0 || undefined,
    'what waits to be sent',
    giveUpMs,
  )

  const messages = await db.selectFrom('messages').select(['message_id', 'folder']).execute()
  const there = new Set(messages.map(message => message.message_id ?? ''))
  const acknowledged = Array.from(mail.acceptedMessages, messageIdOf).filter(
    acceptedMessage => !removed.has(acceptedMessage),
  )
  expect(acknowledged.filter(value => !there.has(value))).toEqual([])
  expect(messages.filter(message => message.folder !== 'inbox')).toEqual([])

  const emails = await db.selectFrom('emails').select(['id', 'status']).execute()
  const sent = new Set<string>(emails.filter(email => email.status === 'sent').map(email => email.id))
  expect([...mail.acceptedEmails.values()].filter(acceptedEmail => !sent.has(acceptedEmail))).toEqual([])
  const copies = groupByEmail(relay.accepted)
  expect([...mail.acceptedEmails.values()].filter(acceptedEmail => copies.get(acceptedEmail)?.length !== 1)).toEqual([])
  process.stdout.write(
    `a year: ${mail.acceptedMessages.size} messages and ${mail.acceptedEmails.size} emails acknowledged, all there\n`,
  )
}, 240_000)
