import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { updateRestoreTrial } from '../../src/base/database/backup-runs-table.ts'
import { openDatabase } from '../../src/base/database/database.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { withoutProgress } from '../harness/backups.ts'
import { runCommand } from '../harness/cli.ts'
import { emptyDatabase, type FreshDatabase } from '../harness/database.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'
import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

const secretKey = Buffer.alloc(32, 7).toString('base64')
const lanes = 3

let mailroom: Mailroom
let target: FreshDatabase
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-backup-whole-'))
  // A relay that is away: what is accepted waits.
  mailroom = await startMailroom({
    MAILROOM_SECRET_KEY: secretKey,
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: 'smtp://127.0.0.1:1',
  })
  target = await emptyDatabase()
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await target?.close()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

async function command(args: readonly string[], databaseUrl: string) {
  const settings = { MAILROOM_DATABASE_URL: databaseUrl, MAILROOM_VAR: folder, MAILROOM_SECRET_KEY: secretKey }
  const { status, out, err } = await runCommand([...args, '--json'], settings)
  expect([status, withoutProgress(err)]).toEqual([0, ''])
  return JSON.parse(out)
}

/** Sends mail both ways until it is stopped, and counts what was acknowledged. */
function startMail() {
  const acknowledged = { messages: [] as string[], emails: [] as string[] }
  let isStopped = false
  const goOn = async (once: (i: number) => Promise<void>) => {
    for (let i = 0; !isStopped; i++) await once(i)
  }
  const receive = async (lane: number, i: number) => {
    const text = `Subject: zebra${lane}x${i}\r\nFrom: a@sender.example\r\n\r\n${`${lane} ${i} `.repeat(40 * (i % 30))}\r\n`
    acknowledged.messages.push(acceptedMessageId(await sendMail(mailroom.smtp, text)))
  }
  const send = async (lane: number, i: number) => {
    const email = { from: 'hello@demo.test', to: `u${lane}x${i}@friend.test`, subject: 'Hello', text: `Hello ${i}` }
    const { status, json } = await mailroom.api('POST', '/v1/emails', email)
    expect(status).toBe(202)
    acknowledged.emails.push(json.id)
  }
  const all = Array.from({ length: lanes }, (_, lane) => [goOn(i => receive(lane, i)), goOn(i => send(lane, i))]).flat()
  return {
    acknowledged,
    async stop() {
      isStopped = true
      await Promise.all(all)
    },
  }
}

test('a backup while mail flows contains all that was acknowledged before, and nothing incomplete', async () => {
  const mail = startMail()
  const enough = () => mail.acknowledged.messages.length >= 20 && mail.acknowledged.emails.length >= 20
  await until(enough, { withinMs: 120_000 })
  const before = { messages: [...mail.acknowledged.messages], emails: [...mail.acknowledged.emails] }
  const made = await command(['backup', join(folder, 'backups'), '--pace', '100'], mailroom.database.url)
  await mail.stop()
  expect(before.messages.length).toBeGreaterThanOrEqual(20)
  expect(mail.acknowledged.messages.length).toBeGreaterThan(before.messages.length)
  expect(made.messages).toBeGreaterThanOrEqual(before.messages.length)

  await command(['restore', join(folder, 'backups')], target.url)
  const { db } = target
  const messages = await db.selectFrom('messages').select(['id', 'organization_id', 'blob_id', 'size']).execute()
  const emails = await db.selectFrom('emails').select(['id', 'organization_id', 'blob_id']).execute()
  expect(messages.map(message => message.id)).toEqual(
    expect.arrayContaining(before.messages as (typeof messages)[0]['id'][]),
  )
  expect(emails.map(email => email.id)).toEqual(expect.arrayContaining(before.emails as (typeof emails)[0]['id'][]))
  const blobs = mysqlBlobs(db, systemClock)
  for (const { organization_id, blob_id } of [...messages, ...emails])
    expect((await blobs.readWhole(organization_id, blob_id)).length).toBeGreaterThan(0)
}, 240_000)

test('a restored Mailroom serves, but sends nothing and accepts no key until an operator allows it', async () => {
  const serving = await mailroom.startSecondProcess({ MAILROOM_DATABASE_URL: target.url, MAILROOM_PROVIDER: 'sandbox' })
  const ask = (path: string) =>
    fetchValidated(`${serving.http}${path}`, { headers: { authorization: `Bearer ${mailroom.key}` } })
  expect((await ask('/v1/inbox')).status).toBe(401)
  const waiting = () => target.db.selectFrom('outbox').select(['id', 'held_at', 'attempts']).execute()
  const held = await waiting()
  expect(held.length).toBeGreaterThan(0)
  expect(held.every(row => row.held_at !== null)).toBe(true)

  const [key] = await target.db.selectFrom('api_keys').select('id').execute()
  await command(['key', 'enable', key?.id ?? ''], target.url)
  const found = (await (await ask('/v1/inbox/search?q=zebra0x0')).json()) as { readonly data: readonly unknown[] }
  expect(found.data.length).toBe(1)
  expect((await waiting()).length).toBe(held.length)

  await command(['queue', 'release', '--all'], target.url)
  await until(async () => (await waiting()).length === 0, { what: 'an empty outbox', withinMs: 60_000 })
}, 240_000)

test('the metrics have the time of the last backup and of the last proven restore', async () => {
  const { db, close } = openDatabase(mailroom.database.url, 1)
  const { id } = await db.selectFrom('backups').select('id').executeTakeFirstOrThrow()
  expect(await updateRestoreTrial(db, id, 'proven', systemClock.now())).toBe(true)
  const [made] = await db.selectFrom('backups').selectAll().execute()
  await close()
  const serving = await mailroom.startSecondProcess({ MAILROOM_ROLES: 'http' })
  const { metrics } = serving.log.find(logLine => logLine.msg === 'serving') as { readonly metrics?: string } & object
  const gaugeOf = async (name: string) => {
    const text = await (await fetch(`http://${metrics}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const secondsOf = (at: string | null | undefined) => Date.parse(`${at?.replace(' ', 'T').slice(0, 23)}Z`) / 1000
  await until(async () => (await gaugeOf('mailroom_restore_last_proven_timestamp_seconds')) > 0, { withinMs: 30_000 })
  expect(await gaugeOf('mailroom_backup_last_success_timestamp_seconds')).toBe(secondsOf(made?.finished_at))
  expect(await gaugeOf('mailroom_restore_last_proven_timestamp_seconds')).toBe(secondsOf(made?.proven_at))
  expect(await gaugeOf('mailroom_backup_last_size_bytes')).toBe(made?.bytes ?? Number.NaN)
}, 120_000)
