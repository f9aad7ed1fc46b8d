import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createDemo } from '../../src/cli/demo.ts'
import { emptyDatabase, type FreshDatabase } from '../harness/database.ts'
import { type MailroomProcess, startProcess, testSettings } from '../harness/mailroom.ts'
import { type PreviousVersion, unpackPreviousVersion } from '../harness/previous-version.ts'
import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'
import { childEnvironment } from '../harness/up.ts'

let previous: PreviousVersion
let database: FreshDatabase
let folder: string
let settings: Record<string, string>
let key: string
const started: MailroomProcess[] = []
/** What was acknowledged, by either version. */
const received: string[] = []
const accepted: string[] = []

beforeAll(async () => {
  previous = unpackPreviousVersion()
  database = await emptyDatabase(4)
  folder = mkdtempSync(join(tmpdir(), 'mailroom-upgrade-'))
  settings = testSettings(database.url, folder)
})
afterAll(async () => {
  await Promise.all(started.map(mailroomProcess => mailroomProcess.kill('SIGTERM')))
  await database.close()
  rmSync(folder, { recursive: true, force: true })
  previous.remove()
})

async function start(checkout?: string): Promise<MailroomProcess> {
  const process = await startProcess(settings, checkout)
  started.push(process)
  return process
}

/** The JSON output of a command of the previous version. */
async function previously(...args: string[]): Promise<Record<string, string>> {
  const running = Bun.spawn([join(previous.path, 'mailroom'), ...args, '--json'], { env: childEnvironment(settings) })
  return JSON.parse(await new Response(running.stdout).text())
}

async function ask(mailroom: MailroomProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${mailroom.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as { id: string; status: string } }
}

/** Ten times a message in and an email out through each of these processes. */
async function mailThrough(...mailrooms: MailroomProcess[]): Promise<void> {
  for (let i = 0; i < 10; i++)
    for (const mailroom of mailrooms) {
      const count = received.length
      const message = `From: a@friend.test\r\nTo: hello@demo.test\r\nSubject: ${count}\r\n\r\nNumber ${count}.\r\n`
      received.push(acceptedMessageId(await sendMail(mailroom.smtp, message)))
      const email = { from: 'hello@demo.test', to: `p${count}@friend.test`, subject: `${count}`, text: 'Hello.' }
      const { status, json } = await ask(mailroom, 'POST', '/v1/emails', email)
      expect(status).toBe(202)
      accepted.push(json.id)
    }
}

async function untilSent(mailroom: MailroomProcess, id: string): Promise<void> {
  const isSent = async () => (await ask(mailroom, 'GET', `/v1/emails/${id}`)).json.status === 'sent'
  await until(isSent, { what: `${id} sent`, withinMs: 30_000 })
}

test('the previous version keeps working while this one migrates, and nothing that either accepted is lost', async () => {
  const old = await start(previous.path)
  const { id = '' } = await previously('org', 'create', 'Demo')
  key = (await previously('key', 'create', '--org', id))['key'] ?? ''
  await createDemo({ base: old.http, key }, database.db)
  await mailThrough(old)

  const present = await start()
  expect(present.log.map(logLine => logLine.msg)).toContain('migrated the database')
  await mailThrough(old, present)
  expect(await old.kill('SIGTERM')).toBe(0)
  await mailThrough(present)

  for (const id of received) expect((await ask(present, 'GET', `/v1/inbox/${id}`)).status).toBe(200)
  for (const id of accepted) await untilSent(present, id)
}, 120_000)

test('an upgrade that only added to the tables is rolled back by starting this version again', async () => {
  const present = started.at(-1) as MailroomProcess
  expect(await present.kill('SIGTERM')).toBe(0)
  await sql`ALTER TABLE messages ADD COLUMN later INT NULL, ADD KEY messages_later (later)`.execute(database.db)
  await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '2099')`.execute(database.db)
  const back = await start()
  expect(back.log.find(logLine => logLine.msg.includes('newer version'))).toMatchObject({ migrations: ['9999-later'] })
  await mailThrough(back)
  await untilSent(back, accepted.at(-1) ?? '')
}, 60_000)

test('this version refuses tables that a later one removed something from, and leaves them unchanged', async () => {
  await (started.at(-1) as MailroomProcess).kill('SIGTERM')
  await sql`INSERT INTO schema_floor (migration) VALUES ('9999-later')`.execute(database.db)
  await expect(start()).rejects.toThrow('was migrated to 9999-later by a newer version of Mailroom')
}, 60_000)
