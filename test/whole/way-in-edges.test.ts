import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { type DnsZoneFile, startDns, type TestDns } from '../support/dns.ts'
import { type Mailroom, startMailroom } from '../support/mailroom.ts'
import { infectedBytes, messageOf, multipart } from '../support/receive.ts'
import { SmtpClient } from '../support/smtp-client.ts'
import { nestedZip } from '../support/zip.ts'

/** Odd mail over SMTP into Mailrooms in processes of their own, and what the API then shows. */
let dns: TestDns
let mailroom: Mailroom
/** Refuses what fails p=reject, has no catch-all and no postmaster, and its scanner is away until {@link clamd} starts. */
let strict: Mailroom
let clamd: PrivateClamd | undefined

const folder = mkdtempSync(join(tmpdir(), 'mailroom-edges-'))
const us = ['v=spf1 ip4:127.0.0.1 -all']
const nobody = ['v=spf1 -all']
const zone: DnsZoneFile = {
  'sender.example': { TXT: us },
  'victim.example': { TXT: nobody },
  '_dmarc.victim.example': { TXT: ['v=DMARC1; p= Reject ; sp=none'] },
  'quarantined.example': { TXT: nobody },
  '_dmarc.quarantined.example': { TXT: ['v=DMARC1;p=QUARANTINE'] },
  'plain.example': { TXT: nobody },
  'broken.example': { behaviour: { rcode: 'SERVFAIL' } },
  '_dmarc.broken.example': { behaviour: { rcode: 'SERVFAIL' } },
}

beforeAll(async () => {
  dns = await startDns(zone)
  const settings = { MAILROOM_RESOLVERS: `127.0.0.1:${dns.endpoint.port}`, MAILROOM_DNS_TIMEOUT_MS: '500' }
  const scanner = { MAILROOM_CLAMD: `unix:${join(folder, 'clamd.sock')}`, MAILROOM_SCAN_WAIT_SECONDS: '0' }
  ;[mailroom, strict] = await Promise.all([
    startMailroom({ ...settings, MAILROOM_POSTMASTER: 'hello@demo.test', MAILROOM_LOG_LEVEL: 'debug' }),
    startMailroom({ ...settings, ...scanner, MAILROOM_DMARC_REJECT: 'true' }),
  ])
  await strict.api('DELETE', `/v1/mailboxes/${await mailboxOf(strict, null)}`)
}, 60_000)

afterAll(async () => {
  await Promise.all([mailroom?.stop(), strict?.stop()])
  await Promise.all([clamd?.stop(), dns?.close()])
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

async function mailboxOf({ api }: Mailroom, localPart: string | null): Promise<string> {
  const { json } = await api('GET', '/v1/mailboxes')
  return json.data.find((each: { local_part: string | null }) => each.local_part === localPart).id
}

interface Envelope {
  readonly by?: Mailroom
  readonly from?: string
  readonly to?: readonly string[]
  readonly helo?: string
}

/** The reply to the final dot, or the first that refuses a command. */
async function send(message: Buffer, envelope: Envelope = {}): Promise<string> {
  const { by = mailroom, from = 'ann@sender.example', to = ['hello@demo.test'], helo = 'mx.sender.example' } = envelope
  const client = await SmtpClient.connect(by.smtp)
  try {
    await client.reply()
    const recipients = to.map(each => `RCPT TO:<${each}>`)
    for (const command of [`EHLO ${helo}`, `MAIL FROM:<${from}>`, ...recipients, 'DATA']) {
      const reply = await client.ask(command)
      if (!/^[23]/.test(reply)) return reply
    }
    client.send(Buffer.from(`${message.toString('latin1').replace(/^\./gm, '..')}\r\n.\r\n`, 'latin1'))
    return await client.reply()
  } finally {
    client.hangUp()
  }
}

function idIn(reply: string): string {
  const id = /^250 2\.0\.0 Accepted as (msg_\S+)$/.exec(reply)?.[1]
  if (!id) throw new Error(`it was not accepted: ${reply}`)
  return id
}

/** The message as the API shows it. */
async function read(id: string, by = mailroom) {
  const { status, json } = await by.api('GET', `/v1/inbox/${id}`)
  expect(status).toBe(200)
  return json
}

async function deliver(message: Buffer, envelope: Envelope = {}) {
  return read(idIn(await send(message, envelope)), envelope.by)
}

/** The items of a thread, in every folder, by the address each came to. */
async function filedWith({ thread_id }: { readonly thread_id: string }) {
  const { json } = await mailroom.api('GET', `/v1/inbox?thread_id=${thread_id}`)
  return (json.data as { id: string; address: string }[]).sort((a, b) => (a.address < b.address ? -1 : 1))
}

describe('for whom it is', () => {
  const arrivals = [
    ['hello@demo.test', 'hello'],
    ['HELLO@Demo.Test', 'hello'],
    ['hello+list@demo.test', 'hello'],
    ['whoever@demo.test', null],
    ['whoever+list@demo.test', null],
    ['postmaster@demo.test', null],
    ['Postmaster', 'hello'],
  ] as const
  for (const [address, localPart] of arrivals)
    test(`${address} reaches ${localPart === null ? 'the catch-all' : `the mailbox ${localPart}`}`, async () => {
      const shown = await deliver(messageOf(), { to: [address] })
      expect(shown.mailbox_id).toBe(await mailboxOf(mailroom, localPart))
      expect(shown.address.toLowerCase()).toBe(address.toLowerCase())
    })

  test('without a catch-all and a postmaster nobody else is there', async () => {
    for (const address of ['whoever@demo.test', 'postmaster@demo.test', 'hell@demo.test', 'Postmaster'])
      expect(await send(messageOf(), { by: strict, to: [address] })).toBe('550 5.1.1 There is no such mailbox here')
    expect(await send(messageOf(), { by: strict, to: ['hello@other.test'] })).toStartWith('550 5.7.1 ')
  })

  test('one message to two mailboxes is two items, neither of which tells of the other', async () => {
    const to = ['hello@demo.test', 'secret@demo.test']
    const items = await filedWith(await deliver(messageOf(), { to }))
    expect(items.map(each => each.address)).toEqual(to)
    for (const [i, { id }] of items.entries()) {
      const { text } = await mailroom.api('GET', `/v1/inbox/${id}/raw`)
      expect(text).toContain(`for <${to[i]}>;`)
      expect(text).not.toContain(to[1 - i] ?? '')
    }
  })

  test('two addresses of one mailbox get one item', async () => {
    const to = ['hello@demo.test', 'hello+list@demo.test', 'HELLO@demo.test']
    expect(await filedWith(await deliver(messageOf(), { to }))).toHaveLength(1)
  })

  test('the same message again is answered alike and filed once, but once more for others or from elsewhere', async () => {
    const message = messageOf()
    const first = await send(message)
    expect(await send(message)).toBe(first)
    expect(await Promise.all([send(message), send(message)])).toEqual([first, first])
    const shown = await read(idIn(first))
    expect(await filedWith(shown)).toHaveLength(1)
    expect(await send(message, { to: ['hello@demo.test', 'other@demo.test'] })).toBe(first)
    expect(await filedWith(shown)).toHaveLength(2)
    expect(await send(message, { from: '' })).not.toBe(first)
    expect(await filedWith(shown)).toHaveLength(3)
  })
})

function withFrom(...fields: readonly string[]): Buffer {
  return Buffer.from(`Subject: Hello\r\n${fields.join('\r\n')}\r\n\r\nHello.\r\n`, 'latin1')
}

describe('who wrote it', () => {
  const several: Readonly<Record<string, Buffer>> = {
    'no From': withFrom('To: hello@demo.test'),
    'two From fields': withFrom('From: ann@sender.example', 'From: ceo@victim.example'),
    'two From fields in other letters': withFrom('FROM: ann@sender.example', 'from : ceo@victim.example'),
    'two addresses': withFrom('From: ann@sender.example, ceo@victim.example'),
    'two addresses, folded': withFrom('From: Ann <ann@sender.example>,\r\n\tCEO <ceo@victim.example>'),
    'a group of two': withFrom('From: us: ann@sender.example, ceo@victim.example;'),
    'a From behind a bare CR': withFrom('From: ann@sender.example\rFrom: ceo@victim.example'),
    'a From behind a bare LF': withFrom('From: ann@sender.example\nFrom: ceo@victim.example'),
    'no address in it': withFrom('From: The CEO'),
  }
  for (const [what, message] of Object.entries(several))
    test(`a message with ${what} is refused`, async () => {
      expect(await send(message)).toBe('550 5.7.1 There must be one From field with one address')
    })

  const from = (domain: string) => withFrom(`From: ceo@${domain}`, `Message-ID: <${Math.random()}@${domain}>`)

  test('what fails "p= Reject" is spam, or refused where the operator says so, scanner or not', async () => {
    const shown = await deliver(from('victim.example'))
    expect(shown).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail', auth: { dmarc: { result: 'fail' } } })
    expect(await send(from('victim.example'), { by: strict })).toBe(
      '550 5.7.26 The message fails the DMARC policy of the domain in From',
    )
  })

  test('what fails p=quarantine is spam', async () => {
    expect(await deliver(from('quarantined.example'))).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail' })
  })

  test('what fails SPF where there is no DMARC policy is spam', async () => {
    const shown = await deliver(from('plain.example'), { from: 'ceo@plain.example' })
    expect(shown).toMatchObject({ folder: 'spam', folder_reason: 'spf_fail', auth: { dmarc: { result: 'none' } } })
  })

  test('a sender whose DNS fails is not held against the message, however strict we are', async () => {
    const envelope = { from: 'ceo@broken.example' }
    const shown = await deliver(from('broken.example'), envelope)
    expect(shown).toMatchObject({ folder: 'inbox', auth: { spf: { result: 'temperror' } } })
    expect(shown.auth.dmarc.result).toBe('temperror')
    expect(await send(from('broken.example'), { ...envelope, by: strict })).toStartWith('250 ')
  })
})

describe('a result that claims to be ours', () => {
  const forged: Readonly<Record<string, string>> = {
    'as we write it': 'Authentication-Results: mail.demo.test; forged=pass',
    'folded, in capitals, with comments and a version':
      'AUTHENTICATION-RESULTS:\r\n (a (nested\\) one))\r\n\tMAIL.Demo.TEST 1;\r\n forged=pass',
    'quoted, with a blank before the colon': 'Authentication-Results : "mail.demo.test"; forged=pass',
    'with a comment right behind the name': 'Authentication-Results: mail.demo.test(us); forged=pass',
    'behind a bare LF': 'X-Other: a\nAuthentication-Results: mail.demo.test; forged=pass',
  }
  for (const [how, field] of Object.entries(forged))
    test(`${how}: is not shown`, async () => {
      const foreign = 'Authentication-Results: mx.other.example; foreign=pass'
      const shown = await deliver(messageOf([foreign, field, 'Subject: Hello']))
      const { text } = await mailroom.api('GET', `/v1/inbox/${shown.id}/raw`)
      expect(text.match(/^authentication-results\s*:/gim)).toHaveLength(2)
      expect(text).toMatch(/^Authentication-Results: mail\.demo\.test;\r\n spf=pass/m)
      expect(text).not.toContain('forged')
      expect(text).toContain(`\r\n${foreign}\r\n`)
      expect(text).toEndWith('\r\n\r\nHello.\r\n\r\n')
      expect(JSON.stringify(shown)).not.toContain('forged')
    })
})

/** A clamd that alerts on what goes past its limits has not seen all of it: never clean. */
const tooDeepToScan = new Set(['1,500 levels'])

/** What the scanner takes to unpack the worst of them counts too. */
const soonMs = 5000

describe('MIME that is broken', () => {
  const subject = 'Subject: Still here'
  const typed = (contentType: string, body: string) => messageOf([subject, `Content-Type: ${contentType}`], body)
  const mixed = 'multipart/mixed; boundary=b'
  const parts = (count: number) => '--b\r\nContent-Type: text/plain\r\n\r\nHello.\r\n'.repeat(count)
  const levels = Array.from(
    { length: 1500 },
    (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
  )
  const broken: Readonly<Record<string, readonly [message: Buffer, shows: string | null]>> = {
    'a multipart without a boundary': [typed('multipart/mixed', parts(1)), null],
    'a multipart without an end': [typed(mixed, parts(1)), 'Hello.'],
    'a part that ends in its header': [typed(mixed, `${parts(1)}--b\r\nContent-Type: text/`), 'Hello.'],
    'base64 that is none': [
      messageOf([subject, 'Content-Transfer-Encoding: base64'], 'SGVsbG8u!!!\u00ff===\r\n*'),
      'Hello.',
    ],
    'an encoding that nobody knows': [messageOf([subject, 'Content-Transfer-Encoding: rot13'], 'Hello.'), 'Hello.'],
    'a charset that nobody knows': [typed('text/plain; charset=x-none', 'Hello.'), 'Hello.'],
    'lines in the header that are no fields': [
      messageOf([subject, 'this is no field', ': nor is this', 'X-Nul: \0\u0001', 'X-Latin: \u00e9']),
      'Hello.',
    ],
    '1,500 levels': [typed('multipart/mixed; boundary=b0', `${levels.join('')}Hello.`), null],
    '5,000 parts': [typed(mixed, `${parts(5000)}--b--\r\n`), 'Hello.'],
    '50,000 nested elements': [typed('text/html', `${'<div>'.repeat(50_000)}Hello.`), null],
  }
  for (const [what, [message, shows]] of Object.entries(broken))
    test(`${what}: is filed soon, and shown as far as it can be`, async () => {
      const before = performance.now()
      const id = idIn(await send(message))
      expect(performance.now() - before).toBeLessThan(soonMs)
      const shown = await read(id)
      expect(shown).toMatchObject({ subject: 'Still here', from: { address: 'ann@sender.example' } })
      if (shows !== null) expect(shown.text).toContain(shows)
      const { status, text } = await mailroom.api('GET', `/v1/inbox/${id}/raw`)
      if (tooDeepToScan.has(what)) expect([shown.folder, status]).toEqual(['quarantine', 403])
      else expect([shown.folder, text.length > message.length]).toEqual(['inbox', true])
    })
})

test('what a client says makes no line of its own in the log, and no field in the header', async () => {
  const forged = '{"level":30,"msg":"forged"}'
  const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
  const inWords = encoded(`Hello\r\n${forged}\r\n\u001b[2JX-Forged: yes`)
  const file = { disposition: `attachment; filename="${inWords}"`, bytes: 'a' }
  const message = () => multipart([{ bytes: 'Hello.' }, file], [`Subject: ${inWords}`])

  for (const helo of [`a\u001b[2J\r${forged}`, 'a\0b', 'a\u009b31mb', `a\n${forged}`])
    expect(await send(message(), { helo })).toMatch(/^50[01] [ -~]+$/)
  const client = await SmtpClient.ready(mailroom.smtp)
  for (const path of [`a\r${forged}@sender.example`, 'a\u001b[2J@sender.example', 'a\0@sender.example']) {
    expect(await client.ask(`MAIL FROM:<${path}>`)).toStartWith('501 ')
    await client.ask('MAIL FROM:<>')
    expect(await client.ask(`RCPT TO:<${path}>`)).toStartWith('501 ')
    await client.ask('RSET')
  }
  expect(await client.ask(`\u001b[2J\r${forged}`)).toMatch(/^50[0-9] [ -~]+$/)
  client.hangUp()

  // Any other text without a blank is taken as a name.
  const shown = await deliver(message(), { helo: `${forged}(ü);by\u202eevil.example` })
  expect(shown.envelope.helo).toStartWith('{"level":30')
  for (const text of [shown.subject, shown.preview, shown.attachments[0].filename, shown.envelope.helo])
    expect(text).not.toMatch(/\p{Cc}/u)
  const { text } = await mailroom.api('GET', `/v1/inbox/${shown.id}/raw`)
  const before = text.slice(0, text.indexOf('From:')).split(/(?:\r\n|\r|\n)(?![ \t\n])/)
  expect(before.map(line => line.split(':')[0])).toEqual(['Return-Path', 'Received', 'Authentication-Results', ''])

  const logged = () => mailroom.log.find(each => each['message_id'] === shown.id)
  for (const deadline = Date.now() + 5000; !logged() && Date.now() < deadline; await Bun.sleep(10));
  expect(logged()).toMatchObject({ msg: 'message accepted', helo: shown.envelope.helo })
  expect(mailroom.log.filter(each => each.msg === 'forged')).toEqual([])
  expect(JSON.stringify(mailroom.log)).not.toContain('X-Forged')
}, 30_000)

describe('while the scanner is away', () => {
  const notes = { disposition: 'attachment; filename=notes.txt', bytes: 'nothing to see' }
  const evil = { disposition: 'attachment; filename=evil.com', bytes: infectedBytes }
  const spoofed = Buffer.from(multipart([notes]).toString('latin1').replace('ann@sender', 'ann@quarantined'), 'latin1')
  // clamd looks into 17 levels unless told otherwise.
  const bomb = { disposition: 'attachment; filename=bomb.zip', bytes: nestedZip(30, infectedBytes) }
  const held = new Map<string, string>()

  const attachmentOf = (shown: { readonly id: string; readonly attachments: readonly { readonly id: string }[] }) =>
    strict.api('GET', `/v1/inbox/${shown.id}/attachments/${shown.attachments[0]?.id}`)

  test('mail waits in quarantine and nothing of it is handed out', async () => {
    const messages = { clean: multipart([notes]), infected: multipart([notes, evil]), spoofed, bomb: multipart([bomb]) }
    for (const [name, message] of Object.entries(messages)) {
      const shown = await deliver(message, { by: strict })
      held.set(name, shown.id)
      expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
      expect(shown.attachments[0]).toMatchObject({ scan: 'error' })
      for (const answer of [await attachmentOf(shown), await strict.api('GET', `/v1/inbox/${shown.id}/raw`)])
        expect([answer.status, answer.json.error.code]).toEqual([403, 'attachment_unscanned'])
    }
    expect((await strict.api('GET', '/v1/inbox')).json.data).toEqual([])
  })

  test('once it is back each goes where it belongs, and what it cannot see through stays', async () => {
    clamd = await startClamd({ folder })
    expect(`unix:${join(folder, 'clamd.sock')}`).toBe(clamd.address)
    // The first look would come a minute after the message.
    await strict.database.db
      .updateTable('messages')
      .set(({ ref }) => ({ rescan_at: ref('received_at') }))
      .where('rescan_at', 'is not', null)
      .execute()
    const now = async (name: string) => read(held.get(name) ?? '', strict)
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await Bun.sleep(200)) {
      const scans = await Promise.all(['clean', 'infected', 'spoofed'].map(async each => (await now(each)).scan))
      if (!scans.includes('error')) break
    }
    const clean = await now('clean')
    expect(clean).toMatchObject({ folder: 'inbox', folder_reason: 'accepted', scan: 'clean' })
    expect((await attachmentOf(clean)).text).toBe('nothing to see')
    expect(await now('spoofed')).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail', scan: 'clean' })
    const infected = await now('infected')
    expect(infected).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    expect(infected.attachments.map((each: { scan: string }) => each.scan)).toEqual(['clean', 'infected'])
    expect((await attachmentOf(infected)).text).toBe('nothing to see')
    expect(await now('bomb')).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
  }, 40_000)

  test('an archive past the limits of a scanner that is there is no clean one', async () => {
    const flat = { disposition: 'attachment; filename=flat.zip', bytes: nestedZip(3, infectedBytes) }
    const harmless = { disposition: 'attachment; filename=ok.zip', bytes: nestedZip(3, Buffer.from('harmless')) }
    expect(await deliver(multipart([harmless]), { by: strict })).toMatchObject({ folder: 'inbox', scan: 'clean' })
    expect(await deliver(multipart([flat]), { by: strict })).toMatchObject({ folder: 'quarantine', scan: 'infected' })
    const shown = await deliver(multipart([bomb]), { by: strict })
    expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
    expect((await attachmentOf(shown)).json.error.code).toBe('attachment_unscanned')
  })
})
