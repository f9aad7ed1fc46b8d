import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditCommand } from '../../../src/cli/audit.ts'
import { messagesCommand } from '../../../src/cli/messages.ts'
import { program } from '../../harness/cli.ts'
import { outputOf } from '../../harness/command-output.ts'
import {
  infectedBytes,
  messageOf,
  multipart,
  openTestInbox,
  type ReceivingDomain,
  type TestInbox,
} from '../../harness/inbox.ts'
import { childEnvironment } from '../../harness/up.ts'

let inbox: TestInbox
let us: ReceivingDomain
const folder = mkdtempSync(join(tmpdir(), 'mailroom-export-'))
let files = 0

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await inbox.close()
})

const settings = () => ({ MAILROOM_DATABASE_URL: inbox.server.database.url, MAILROOM_HOSTNAME: 'mail.example.net' })
const to = () => `hello@${us.domain}`

/** What Python's module mailbox reads from the file. */
const reader = `
import mailbox, json, sys, re
box = mailbox.mbox(sys.argv[1], create=False)
unquote = lambda body: re.sub(rb'(?m)^>(>*From )', rb'\\1', body)
print(json.dumps([{
  'from': message.get_from(),
  'fields': [[name, str(value)] for name, value in message.items()],
  'bytes': unquote(box.get_bytes(key)).decode('latin-1'),
} for key, message in box.items()]))`

interface Read {
  readonly from: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly bytes: string
}

function readMbox(file: string): readonly Read[] {
  const ran = Bun.spawnSync(['python3', '-c', reader, file])
  expect([ran.exitCode, ran.stderr.toString()]).toEqual([0, ''])
  return JSON.parse(ran.stdout.toString())
}

const field = (message: Read | undefined, name: string) => message?.fields.find(field => field[0] === name)?.[1]

async function exported(...args: string[]) {
  const file = join(folder, `${++files}.mbox`)
  const { json } = await outputOf(messagesCommand, ['export', ...args, '--output', file], settings())
  expect(statSync(file).mode & 0o777).toBe(0o600)
  return { ...json, read: readMbox(file) }
}

test('another program reads back every message as it was delivered, oldest first', async () => {
  const tricky = messageOf(
    ['Subject: one'],
    'From here on\r\n>From there\r\n\r\nFrom ann@a.test Sat Jan  3 08:05:09 2026\r\nbye\xff',
  )
  const first = await inbox.deliver(tricky, to())
  const second = await inbox.deliver(messageOf(['Subject: two']), `sales@${us.domain}`, { mailFrom: '' })
  const large = await inbox.deliver(multipart([{ bytes: Buffer.alloc(3_000_000, 7) }]), to())
  const read = await exported('--mailbox', us.mailboxId)
  expect([read.exported, read.read.length]).toEqual([3, 3])
  expect(read.read.map((read: Read) => field(read, 'X-Mailroom-Id'))).toEqual([first, second, large])
  const [one, two] = read.read as readonly Read[]
  expect(one?.from).toMatch(/^bounce@sender\.example \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/)
  expect(two?.from).toStartWith('MAILER-DAEMON ')
  expect([field(one, 'Delivered-To'), field(one, 'Return-Path')]).toEqual([to(), '<bounce@sender.example>'])
  expect([field(two, 'Delivered-To'), field(two, 'Return-Path')]).toEqual([`sales@${us.domain}`, '<>'])
  expect(field(one, 'Received')).toContain('by mail.example.net')
  const raw = (await inbox.download(`/v1/inbox/${first}/raw`)).bytes.toString('latin1').replaceAll('\r\n', '\n')
  const body = raw.slice(raw.indexOf('\nFrom: '))
  expect(one?.bytes.endsWith(`${body}\n`) || one?.bytes.endsWith(body)).toBe(true)
})

test('exports the folders, the time and the scope of its options', async () => {
  const own = await inbox.createReceivingDomain()
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push(await inbox.deliver(messageOf([`Subject: ${i}`]), `a@${own.domain}`))
  await inbox.server.call('POST', `/v1/inbox/${ids[1]}/folder`, { json: { folder: 'archive' } })
  const { json } = await inbox.server.call('GET', `/v1/inbox/${ids[2]}`)
  const found = async (...args: string[]) =>
    (await exported(...args)).read.map((read: Read) => field(read, 'X-Mailroom-Id'))
  expect(await found('--brand', own.brandId)).toEqual([ids[0], ids[2], ids[1]])
  expect(await found('--brand', own.brandId, '--folder', 'archive')).toEqual([ids[1]])
  expect(await found('--mailbox', `@${own.domain}`, '--since', json.received_at)).toEqual([ids[2]])
  const all = await found('--org', inbox.server.organizationId)
  expect(all).toEqual(expect.arrayContaining(ids))
  expect(all.length).toBeGreaterThan(3)
})

test('leaves out and counts messages that may be infected, unless they are asked for', async () => {
  const own = await inbox.createReceivingDomain()
  const attached = { contentType: 'application/octet-stream', disposition: 'attachment; filename=a.com' }
  const bad = await inbox.deliver(multipart([{ ...attached, bytes: infectedBytes }]), `a@${own.domain}`)
  await inbox.server.call('POST', `/v1/inbox/${bad}/folder`, { json: { folder: 'inbox' } })
  expect(await exported('--brand', own.brandId)).toMatchObject({ exported: 0, left_out: { unsafe: 1, removed: 0 } })
  const read = await exported('--brand', own.brandId, '--infected')
  expect(read).toMatchObject({ exported: 1, left_out: { unsafe: 0 } })
  const { json } = await outputOf(
    auditCommand,
    ['list', '--action', 'messages.export', '--subject', own.brandId],
    settings(),
  )
  expect(json.map((entry: { detail: { infected: boolean } }) => entry.detail.infected)).toEqual([true, false])
})

test('writes the messages to standard output and the counts to standard error', async () => {
  const own = await inbox.createReceivingDomain()
  await inbox.deliver(messageOf(['Subject: out']), `a@${own.domain}`)
  const command = [process.execPath, '--no-env-file', program, 'messages', 'export']
  const ran = Bun.spawnSync([...command, '--brand', own.brandId, '--json'], { env: childEnvironment(settings()) })
  expect(JSON.parse(ran.stderr.toString())).toEqual({ file: null, exported: 1, left_out: { unsafe: 0, removed: 0 } })
  expect(ran.stdout.toString()).toMatch(/^From bounce@sender\.example [^\n]*\nDelivered-To: .*\nSubject: out\n.*\n\n$/s)
})

test.each([
  [['export'], 'give one of --mailbox, --brand and --org'],
  [['export', '--org', 'org_00000000000000000000000000'], 'There is no organization'],
  [['export', '--mailbox', 'nobody@nowhere.test'], 'There is no mailbox'],
  [['export', '--mailbox', 'nobody'], 'neither the id of a mailbox nor an address'],
  [['export', '--brand', 'brd_00000000000000000000000000', '--folder', 'drafts'], 'is none of'],
])('says what is wrong with %p', async (args, sentence) => {
  await expect(outputOf(messagesCommand, args, settings())).rejects.toThrow(sentence)
})
