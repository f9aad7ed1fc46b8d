import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { type DnsZoneFile, startDns, type TestDns } from '../harness/dns.ts'
import { messageOf, multipart } from '../harness/inbox.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { acceptedMessageId, type Envelope, findMailboxId, readMessage, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** Unusual mail over SMTP to Mailroom processes, and what the API then shows. */
let dns: TestDns
let mailroom: Mailroom
/** Rejects mail that fails p=reject, and has neither a catch-all nor a postmaster. */
let strict: Mailroom

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
  ;[mailroom, strict] = await Promise.all([
    startMailroom({ ...settings, MAILROOM_POSTMASTER: 'hello@demo.test', MAILROOM_LOG_LEVEL: 'debug' }),
    startMailroom({ ...settings, MAILROOM_DMARC_REJECT: 'true' }),
  ])
  await strict.api('DELETE', `/v1/mailboxes/${await findMailboxId(strict, null)}`)
}, 60_000)

afterAll(async () => {
  await Promise.all([mailroom?.stop(), strict?.stop()])
  await dns?.close()
}, 60_000)

interface Sent extends Envelope {
  readonly by?: Mailroom
}

const send = (message: Buffer, { by = mailroom, ...envelope }: Sent = {}) =>
  sendMail(by.smtp, message, { from: 'ann@sender.example', ...envelope })

const read = (id: string) => readMessage(mailroom, id)

const deliver = async (message: Buffer, envelope: Sent = {}) => read(acceptedMessageId(await send(message, envelope)))

/** The items of a thread, in every folder, by the address each came to. */
async function filedWith({ thread_id }: { readonly thread_id: string }) {
  const { json } = await mailroom.api('GET', `/v1/inbox?thread_id=${thread_id}`)
  return (json.data as { id: string; address: string }[]).sort((a, b) => (a.address < b.address ? -1 : 1))
}

const date = 'Date: Tue, 1 Jul 2025 10:00:00 +0200'

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
      expect(shown.mailbox_id).toBe(await findMailboxId(mailroom, localPart))
      expect(shown.address.toLowerCase()).toBe(address.toLowerCase())
    })

  test('without a catch-all and a postmaster nobody else is there', async () => {
    for (const address of ['whoever@demo.test', 'postmaster@demo.test', 'hell@demo.test', 'Postmaster'])
      expect(await send(messageOf(), { by: strict, to: [address] })).toBe('550 5.1.1 There is no such mailbox here')
    expect(await send(messageOf(), { by: strict, to: ['hello@other.test'] })).toStartWith('550 5.7.1 ')
  })

  test('one message to two mailboxes is two items, and neither reveals the other', async () => {
    const to = ['hello@demo.test', 'secret@demo.test']
    const items = await filedWith(await deliver(messageOf(), { to }))
    expect(items.map(item => item.address)).toEqual(to)
    for (const [i, { id }] of items.entries()) {
      const { text } = await mailroom.api('GET', `/v1/inbox/${id}/raw`)
      expect(text).toContain(`for <${to[i]}>;`)
      expect(text).not.toContain(to[1 - i] ?? '')
    }
  })

  test('two addresses of one mailbox get one item each, an address in other letters none of its own', async () => {
    const to = ['hello@demo.test', 'hello+list@demo.test', 'HELLO@demo.test']
    const items = await filedWith(await deliver(messageOf(), { to }))
    expect(items.map(item => item.address.toLowerCase()).sort()).toEqual(['hello+list@demo.test', 'hello@demo.test'])
  })

  test('the same message again gets the same reply and is stored once, but again for another recipient or sender', async () => {
    const message = messageOf([date])
    const first = await send(message)
    expect(await send(message)).toBe(first)
    expect(await Promise.all([send(message), send(message)])).toEqual([first, first])
    const shown = await read(acceptedMessageId(first))
    expect(await filedWith(shown)).toHaveLength(1)
    expect(await send(message, { to: ['hello@demo.test', 'other@demo.test'] })).toBe(first)
    expect(await filedWith(shown)).toHaveLength(2)
    expect(await send(message, { to: ['hello+list@demo.test'] })).not.toBe(first)
    expect(await filedWith(shown)).toHaveLength(3)
    expect(await send(message, { from: '' })).not.toBe(first)
    expect(await filedWith(shown)).toHaveLength(4)
  })

  test('a device’s alarm in the same bytes is stored each time, without a Date or a Message-ID', async () => {
    const withId = messageOf(['Subject: Alarm'])
    const shown = await deliver(withId)
    await Promise.all([send(withId), send(withId, { to: ['hello@demo.test', 'sales@demo.test'] })])
    expect(await filedWith(shown)).toHaveLength(4)

    const word = `alarm${Math.random().toString(36).slice(2)}`
    const withDate = Buffer.from(`From: device@sender.example\r\n${date}\r\nSubject: ${word}\r\n\r\nAlarm.\r\n`)
    const replies = [await send(withDate), await send(withDate), await send(withDate, { to: ['sales@demo.test'] })]
    expect(new Set(replies.map(acceptedMessageId)).size).toBe(3)
    for (const reply of replies) expect((await read(acceptedMessageId(reply))).subject).toBe(word)
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

  test('a mail system need not be in the From of its report, whatever else it sends is spam', async () => {
    const report = 'Content-Type: multipart/report; report-type=delivery-status; boundary=b'
    const status =
      'Reporting-MTA: dns; mx.other.example\r\n\r\nFinal-Recipient: rfc822; x@other.example\r\nAction: failed\r\nStatus: 5.1.1'
    const body = `--b\r\n\r\nNo such user.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${status}\r\n\r\n--b--`
    for (const field of [
      'X-No-From: 1',
      'From:',
      'From: <>',
      'From: MAILER-DAEMON <>',
      'From: MAILER-DAEMON',
      'From: <MAILER-DAEMON>',
    ]) {
      const message = (type: string, text: string) =>
        Buffer.from(`Subject: Hello\r\n${field}\r\n${type}\r\n\r\n${text}\r\n`)
      const filed = await deliver(message(report, body), { from: '' })
      expect(filed).toMatchObject({ folder: 'inbox', folder_reason: 'report', from: { address: '' } })
      const other = await deliver(message('Content-Type: text/plain', 'Buy more.'), { from: '' })
      expect(other).toMatchObject({ folder: 'spam', folder_reason: 'from_unchecked' })
      expect(await send(message(report, body))).toBe('550 5.7.1 There must be one From field with one address')
    }
    for (const message of [several['two From fields'], several['two addresses']])
      expect(await send(message ?? Buffer.alloc(0), { from: '' })).toStartWith('550 5.7.1 ')
  })

  const from = (domain: string) => withFrom(`From: ceo@${domain}`, `Message-ID: <${Math.random()}@${domain}>`)

  test('mail that fails "p= Reject" is spam, or rejected if so configured, with or without a scanner', async () => {
    const shown = await deliver(from('victim.example'))
    expect(shown).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail', auth: { dmarc: { result: 'fail' } } })
    expect(await send(from('victim.example'), { by: strict })).toBe(
      '550 5.7.26 The message fails the DMARC policy of the domain in From',
    )
  })

  test('mail that fails p=quarantine is spam', async () => {
    expect(await deliver(from('quarantined.example'))).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail' })
  })

  test('mail that fails SPF without a DMARC policy is spam', async () => {
    const shown = await deliver(from('plain.example'), { from: 'ceo@plain.example' })
    expect(shown).toMatchObject({ folder: 'spam', folder_reason: 'spf_fail', auth: { dmarc: { result: 'none' } } })
  })

  test('a sender’s broken DNS does not count against the message, even with strict settings', async () => {
    const envelope = { from: 'ceo@broken.example' }
    const shown = await deliver(from('broken.example'), envelope)
    expect(shown).toMatchObject({ folder: 'inbox', auth: { spf: { result: 'temperror' } } })
    expect(shown.auth.dmarc.result).toBe('temperror')
    expect(await send(from('broken.example'), { ...envelope, by: strict })).toStartWith('250 ')
  })
})

describe('delimiters with white space after them', () => {
  for (const [what, size] of [
    ['in memory', 1000],
    ['in the spool', 400_000],
  ] as const)
    test(`are delimiters in a message that is ${what}`, async () => {
      const bytes = randomBytes(size)
      const lines = [
        '--b \t',
        '',
        'Hello.',
        '--b  ',
        'Content-Type: application/pdf; name=a.pdf',
        'Content-Transfer-Encoding: base64',
        '',
        bytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
        '--b-- ',
        '',
      ]
      const shown = await deliver(messageOf(['Content-Type: multipart/mixed; boundary=b'], lines.join('\r\n')))
      expect(shown).toMatchObject({ folder: 'inbox', preview: 'Hello.', attachment_count: 1 })
      expect(shown.text.trim()).toBe('Hello.')
      expect(shown.attachments).toMatchObject([{ filename: 'a.pdf', size, scan: 'clean' }])
      expect(shown.attachments[0].sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
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
      expect(text).toEndWith('\r\n\r\nHello.\r\n')
      expect(JSON.stringify(shown)).not.toContain('forged')
    })
})

test('a client cannot inject log lines or header fields', async () => {
  const forged = '{"level":30,"msg":"forged"}'
  const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
  const inWords = encoded(`Hello\r\n${forged}\r\n\u001b[2JX-Forged: yes`)
  const file = { disposition: `attachment; filename="${inWords}"`, bytes: 'a' }
  const message = () => multipart([{ bytes: 'Hello.' }, file], [`Subject: ${inWords}`])

  for (const helo of [`a\u001b[2J\r${forged}`, 'a\0b', 'a\u009b31mb', `a\n${forged}`])
    expect(await send(message(), { helo })).toMatch(/^50[01] [ -~]+$/)
  const client = await SmtpClient.ready(mailroom.smtp)
  for (const path of [`a\r${forged}@sender.example`, 'a\u001b[2J@sender.example', 'a\0@sender.example']) {
    expect(await client.command(`MAIL FROM:<${path}>`)).toStartWith('501 ')
    await client.command('MAIL FROM:<>')
    expect(await client.command(`RCPT TO:<${path}>`)).toStartWith('501 ')
    await client.command('RSET')
  }
  expect(await client.command(`\u001b[2J\r${forged}`)).toMatch(/^50[0-9] [ -~]+$/)
  client.hangUp()

  // Any other text without a blank is taken as a name.
  const shown = await deliver(message(), { helo: `${forged}(ü);by\u202eevil.example` })
  expect(shown.envelope.helo).toStartWith('{"level":30')
  for (const text of [shown.subject, shown.preview, shown.attachments[0].filename, shown.envelope.helo])
    expect(text).not.toMatch(/\p{Cc}/u)
  const { text } = await mailroom.api('GET', `/v1/inbox/${shown.id}/raw`)
  const before = text.slice(0, text.indexOf('From:')).split(/(?:\r\n|\r|\n)(?![ \t\n])/)
  expect(before.map(line => line.split(':')[0])).toEqual(['Return-Path', 'Received', 'Authentication-Results', ''])

  const logged = await until(() => mailroom.log.find(line => line['message_id'] === shown.id))
  expect(logged).toMatchObject({ msg: 'message accepted', helo: shown.envelope.helo })
  expect(mailroom.log.filter(line => line.msg === 'forged')).toEqual([])
  expect(JSON.stringify(mailroom.log)).not.toContain('X-Forged')
}, 30_000)
