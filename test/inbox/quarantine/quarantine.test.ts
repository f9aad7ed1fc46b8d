import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import { readConfig } from '../../../src/base/config/config.ts'
import { auditCommand } from '../../../src/cli/audit.ts'
import { quarantineCommand as command } from '../../../src/cli/quarantine.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { clamdScanner } from '../../../src/ports/scanner/clamd.ts'
import { rescanDue } from '../../../src/receiving/rescan/rescan.ts'
import { outputOf } from '../../harness/command-output.ts'
import { infectedBytes, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { until } from '../../harness/until.ts'
import { zipOf } from '../../harness/zip.ts'

let inbox: TestInbox
let us: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox({ indexes: true })
  us = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const to = () => `hello@${us.domain}`

/** Infected bytes that no other message has, in a message with a word that none has. */
function infected() {
  const word = `w${randomBytes(6).toString('hex')}`
  const bytes = zipOf(`${word}.com`, infectedBytes)
  const disposition = `attachment; filename=${word}.zip`
  const message = multipart(
    [{ bytes: `See ${word}.` }, { contentType: 'application/octet-stream', disposition, bytes }],
    [`Subject: About ${word} \u001b[2J`],
  )
  return { word, bytes, message }
}

const settings = () => ({ MAILROOM_DATABASE_URL: inbox.server.database.url })
const quarantine = async (...args: string[]) => (await outputOf(command, args, settings())).json

const read = async (id: string) => (await inbox.server.call('GET', `/v1/inbox/${id}`)).json
const audited = async (subject: string) =>
  (await outputOf(auditCommand, ['list', '--subject', subject], settings())).json

async function downloads(id: string): Promise<readonly number[]> {
  const [attachment] = (await read(id)).attachments
  const paths = [`/v1/inbox/${id}/raw`, `/v1/inbox/${id}/attachments/${attachment.id}`]
  return (await Promise.all(paths.map(path => inbox.download(path)))).map(response => response.status)
}
const unread = async () =>
  (await inbox.server.call('GET', '/v1/mailboxes')).json.data.find((item: { id: string }) => item.id === us.mailboxId)
    .unread_count

test('messages selected by hash are released to the inbox, keep their scan result, and are then like any other', async () => {
  const { word, bytes, message } = infected()
  const first = await inbox.deliver(message, to())
  const second = await inbox.deliver(
    multipart([{ contentType: 'image/png', disposition: 'attachment; filename=b.png', bytes }]),
    to(),
  )
  const other = await inbox.deliver(infected().message, to())
  expect(await downloads(first)).toEqual([403, 403])
  const before = await unread()

  const hash = sha256(bytes)
  const listed = await quarantine('list', '--sha256', hash)
  expect(listed.map((item: { id: string }) => item.id)).toEqual([second, first])
  expect(listed[1]).toMatchObject({ scan: 'infected', sha256: sha256(message), rcpt_to: to() })
  expect(listed[1].attachments).toMatchObject([{ filename: `${word}.zip`, sha256: hash, scan: 'infected' }])
  const dry = await quarantine('release', '--sha256', hash, '--dry-run')
  expect([dry.dry_run, dry.count, (await read(first)).folder]).toEqual([true, 2, 'quarantine'])

  const released = await quarantine('release', '--sha256', hash.toUpperCase())
  expect(new Set(released.messages.map((message: { id: string }) => message.id))).toEqual(new Set([first, second]))
  const shown = await read(first)
  expect(shown).toMatchObject({ folder: 'inbox', folder_reason: 'released', scan: 'infected' })
  expect(shown.attachments).toMatchObject([{ scan: 'infected', scan_signature: expect.any(String) }])
  expect((await read(other)).folder).toBe('quarantine')
  expect([await downloads(first), await downloads(second)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  const attachment = await inbox.download(`/v1/inbox/${first}/attachments/${shown.attachments[0].id}`)
  expect(attachment.bytes.equals(bytes)).toBe(true)
  // Reading marked the first one, and the second too.
  await inbox.server.call('POST', `/v1/inbox/${first}/read`, { json: { read: false } })
  expect(await unread()).toBe(before + 1)
  const search = () => inbox.server.call('GET', `/v1/inbox/search?q=${word}&folder=inbox`)
  await until(async () => (await search()).json.data.length > 0)
  expect((await search()).json.data.map((item: { id: string }) => item.id)).toEqual([first])

  const [deed, ...rest] = await audited(first)
  expect(rest).toEqual([])
  expect(deed).toMatchObject({
    action: 'quarantine.release',
    actor: expect.any(String),
    detail: { reason: 'infected', scan: 'infected', sha256: sha256(message), asked_for: `sha256:${hash}` },
  })
})

test('a message that is moved back to quarantine cannot be downloaded again', async () => {
  const id = await inbox.deliver(infected().message, to())
  await quarantine('release', id)
  expect(await downloads(id)).toEqual([200, 200])
  await inbox.server.call('POST', `/v1/inbox/${id}/folder`, { json: { folder: 'quarantine' } })
  expect(await downloads(id)).toEqual([403, 403])
  expect((await quarantine('release', id)).count).toBe(1)
  const again = await quarantine('release', id)
  expect(again).toEqual({ action: 'release', dry_run: false, count: 0, messages: [], not_in_quarantine: [id] })
})

test('a message that was released unscanned goes back once the scanner finds something', async () => {
  const { message } = infected()
  const id = await inbox.deliver(message, to(), { unscanned: true })
  expect((await quarantine('list', '--reason', 'unscanned')).map((item: { id: string }) => item.id)).toEqual([id])
  await quarantine('release', id)
  expect(await downloads(id)).toEqual([200, 200])
  const { db } = inbox.server.database
  const { clamd } = readConfig({ MAILROOM_CLAMD: process.env['MAILROOM_TEST_CLAMD'], MAILROOM_PROVIDER: 'sandbox' })
  const clock = { now: () => plusMs(systemClock.now(), 3_600_000) }
  const log = { ...console, warn: () => undefined } as never
  const scanner = clamdScanner({ address: clamd, timeoutMs: 20_000, maxConcurrentScans: 4 })
  const deps = { db, blobs: mysqlBlobs(db, clock), scanner, scanAttachments: 'decoded', clock, log } as const
  expect(await rescanDue(deps)).toBe(1)
  expect(await read(id)).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
  expect(await downloads(id)).toEqual([403, 403])
})

test('a deleted message is gone, with an audit entry that says what it was', async () => {
  const { message } = infected()
  const id = await inbox.deliver(message, to())
  expect((await quarantine('delete', id)).count).toBe(1)
  expect((await inbox.server.call('GET', `/v1/inbox/${id}`)).status).toBe(404)
  const { db } = inbox.server.database
  expect(await db.selectFrom('attachments').select('id').where('message_id', '=', id).execute()).toEqual([])
  expect(await audited(id)).toMatchObject([{ action: 'quarantine.delete', detail: { sha256: sha256(message) } }])
})

test('shows all of a message, without characters that could control the terminal', async () => {
  const { word, bytes, message } = infected()
  const id = await inbox.deliver(message, to())
  const { text: out } = await outputOf(command, ['show', id], settings())
  expect(out).toContain(`sha256 ${sha256(bytes)}  ${word}.zip, ${bytes.length} bytes, infected (`)
  expect(out).toContain(`\nSubject: About ${word} �[2J`)
  expect(out).not.toContain('\u001b')
  expect(out).not.toContain('base64,')
  const listed = await outputOf(command, ['list'], settings())
  expect(listed.text).not.toContain('\u001b')
})

test.each([
  [['release'], 'say which ones'],
  [['release', 'msg_00000000000000000000000000', '--sha256', 'ab'.repeat(32)], 'say which ones'],
  [['release', '--sha256', 'abc'], 'is not a SHA-256'],
  [['delete', 'everything'], 'is not the id of a message'],
  [['list', '--reason', 'spam'], 'none of infected, unscanned'],
  [['show', 'msg_00000000000000000000000000'], 'There is no message'],
])('neither releases nor deletes without a selection: %p', async (args, sentence) => {
  await expect(outputOf(command, args, settings())).rejects.toThrow(sentence)
})
