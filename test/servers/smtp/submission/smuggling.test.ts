import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { groupByEmail, headerValues, textOf, unstuffed } from '../../../harness/relayed-messages.ts'
import { type RelayedMessage, type ScriptedRelay, startScriptedRelay } from '../../../harness/scripted-relay.ts'
import { SmtpClient } from '../../../harness/smtp-client.ts'
import { bodyWith, ends, endsWithNul } from '../../../harness/smuggling.ts'
import { loggedIn, mime, queuedId, submitMessage } from '../../../harness/submission.ts'
import { until } from '../../../harness/until.ts'

/** On a loopback address without a certificate: what a program submits is one message, and the relay gets what was read. */
let relay: ScriptedRelay
let mailroom: Mailroom
let client: SmtpClient

beforeAll(async () => {
  relay = await startScriptedRelay()
  const smarthost = { MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url }
  mailroom = await startMailroom({ ...smarthost, MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:0' })
  client = await loggedIn(mailroom.submission, mailroom.key, false)
}, 60_000)
afterAll(async () => {
  client?.hangUp()
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

const plainMail = ['From: hello@demo.test', 'To: bob@friend.test', 'Subject: x']

async function submitted(message: string | Buffer): Promise<RelayedMessage> {
  const id = queuedId(await submitMessage(client, { message }))
  return await until(() => groupByEmail(relay.accepted).get(id)?.[0], { what: `${id} at the relay` })
}

/** Nothing in it could end it early, or be changed on the way. */
function expectOneMessage({ wire, to }: RelayedMessage): void {
  const text = wire.toString('latin1')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not occur
  expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n|[\u0000\u0080-\u00ff]/)
  expect(`\r\n${text}`).not.toMatch(/\r\n\.(?!\.)/)
  expect(to).toEqual(['bob@friend.test'])
}

const lines = (text: string) => text.trimEnd().split(/\r\n|\r|\n/)

describe('a body is one message, line for line', () => {
  test.each([...ends, ...endsWithNul])('with %j, whole', async end => {
    const body = bodyWith(end)
    const taken = await submitted(Buffer.from(mime(plainMail, `${body}\r\n`)))
    expectOneMessage(taken)
    expect(textOf(taken).trimEnd().split('\r\n')).toEqual(lines(body))
  })

  test.each(ends)('with %j, byte by byte', async end => {
    await client.commands('MAIL FROM:<hello@demo.test>', 'RCPT TO:<bob@friend.test>', 'DATA')
    const text = Buffer.from(`first${end}last`).toString('latin1').replaceAll('\r\n.', '\r\n..')
    const bytes = Buffer.from(`${text}\r\n.\r\n`, 'latin1')
    client.send(mime(plainMail, ''))
    await client.sendInPieces(
      Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i, i + 1)),
      0,
    )
    const id = queuedId(await client.reply())
    expectOneMessage(await until(() => groupByEmail(relay.accepted).get(id)?.[0]))
  })
})

test.each([
  ['Subject: x\rBcc: victim@y.test', 'a bare CR ends a field as CRLF does: Bcc is taken out'],
  ['Subject: x\nBcc: victim@y.test', 'so does a bare LF'],
  ['Subject: x\r\n \r\nBcc: victim@y.test', 'a line of blanks does not end the header'],
  ['BCC : victim@y.test', 'white space before the colon'],
  ['Resent-Bcc: victim@y.test\r\nReturn-Path: <victim@y.test>', 'other private fields'],
])('a header with %j shows nobody else, and sends to nobody else: %s', async field => {
  const header = ['From: hello@demo.test', 'To: bob@friend.test', field]
  const taken = await submitted(mime(header))
  expectOneMessage(taken)
  expect(taken.wire.toString('latin1')).not.toContain('victim@y.test')
})

test('bytes beyond ASCII in the header become encoded words, and those of a name in a parameter RFC 2231', async () => {
  const header = [
    'From: Grüße aus Köln <hello@demo.test>',
    'To: "Jürgen, Ä" <bob@friend.test>, <ann@bücher.example>',
    `Subject: ${'Grüße '.repeat(30)}`,
    'X-Note: schön',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8; name="Ünïcode.txt"',
    'Content-Transfer-Encoding: 8bit',
  ]
  const taken = await submitted(Buffer.from(mime(header, 'Grüße an alle\r\n')))
  expectOneMessage(taken)
  const text = unstuffed(taken)
  expect(Math.max(...text.split('\r\n').map(line => line.length))).toBeLessThan(200)
  expect(headerValues(text, 'To')[0]).toMatch(
    /^=\?UTF-8\?Q\?J=C3=BCrgen=2C_=C3=84\?= <bob@friend\.test>, <ann@xn--bcher-kva\.example>$/i,
  )
  expect(headerValues(text, 'Content-Transfer-Encoding')).toEqual(['quoted-printable'])
  expect(textOf(taken)).toBe('Grüße an alle\r\n')
  const { json } = await mailroom.api('GET', `/v1/emails/${headerValues(text, 'X-Mailroom-Id')[0]}`)
  expect(json.from).toBe('Grüße aus Köln <hello@demo.test>')
  expect(json.subject).toBe('Grüße '.repeat(30).trim())
})

test('what is in 7 bit already is relayed byte for byte', async () => {
  const header = [
    ...plainMail,
    'Date: Thu, 01 Jan 2026 00:00:00 +0000',
    'Message-ID: <1@app.test>',
    'X-Odd:  two  spaces ',
  ]
  const body = 'first\r\n.\r\n..\r\n \t\r\nlast  \r\n\r\n\r\n'
  const text = unstuffed(await submitted(mime(header, body)))
  expect(text.endsWith(mime(header, body))).toBe(true)
  expect(headerValues(text, 'Date')).toEqual(['Thu, 01 Jan 2026 00:00:00 +0000'])
})

test('a bad Message-ID is replaced, and an absent Date is when the email was accepted', async () => {
  for (const field of [
    'Message-ID: nobody',
    'Message-ID: <a@x>\r\nMessage-ID: <b@x>',
    `Message-ID: <${'a'.repeat(400)}@x>`,
  ]) {
    const text = unstuffed(await submitted(mime([...plainMail, field])))
    const [id = ''] = headerValues(text, 'X-Mailroom-Id')
    expect(headerValues(text, 'Message-ID')).toEqual([`<${id.slice(4)}@demo.test>`])
    expect(headerValues(text, 'Date')).toHaveLength(1)
  }
})

test('a client of this machine logs in without TLS; one that a load balancer reports from elsewhere does not', async () => {
  const behind = await mailroom.startSecondProcess({ MAILROOM_SMTP_PROXIES: '127.0.0.1' })

  const remote = await SmtpClient.connect(behind.submission)
  remote.send('PROXY TCP4 203.0.113.9 127.0.0.1 40000 587\r\n')
  await remote.reply()
  expect(await remote.command('EHLO app.test')).not.toContain('AUTH')
  expect(await remote.command('AUTH LOGIN')).toBe(
    '538 5.7.11 Encryption required for requested authentication mechanism',
  )
  remote.hangUp()
  await behind.kill('SIGTERM')
})

test('none of these was understood as a command', () => {
  expect(relay.accepted.length).toBeGreaterThan(50)
  expect(relay.commands.filter(command => /evil|victim/.test(command))).toEqual([])
})
