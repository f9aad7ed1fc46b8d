import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail, textOf } from '../harness/relayed-messages.ts'
import { type RelayedMessage, type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { acceptedMessageId } from '../harness/smtp-delivery.ts'
import { bodyWith, ends, endsWithNul } from '../harness/smuggling.ts'
import { until } from '../harness/until.ts'

/** Byte sequences that end a message for some servers, in what a Mailroom process sends, replies and forwards. */
let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  relay = await startScriptedRelay()
  mailroom = await startMailroom({ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url })
}, 60_000)
afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

/** The lines that a text has to have on the wire, without empty lines at its end; and those that it has. */
const lines = (text: string) => text.trimEnd().split(/\r\n|\r|\n/)
const wireLines = (taken: RelayedMessage) => textOf(taken).trimEnd().split('\r\n')

/** The one message of an email that the relay received, without bytes that could end it early. */
async function relayedOf({ id }: { readonly id: string }): Promise<RelayedMessage> {
  const found = () => groupByEmail(relay.accepted).get(id) ?? []
  const relayed = await until(() => found()[0], { what: `${id} at the relay` })
  const all = found()
  expect(new Set(all.map(message => message.to.join())).size).toBe(all.length)
  const wire = relayed.wire.toString('latin1')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not occur
  expect(wire).not.toMatch(/\r(?!\n)|(?<!\r)\n|[\u0000\u0080-\u00ff]/)
  expect(`\r\n${wire}`).not.toMatch(/\r\n\.(?!\.)/)
  return relayed
}

/** Delivers a message byte for byte: only a dot that starts a line after CRLF is doubled. */
async function receive(message: Buffer): Promise<string> {
  const client = await SmtpClient.connect(mailroom.smtp)
  try {
    await client.reply()
    await client.commands(
      'EHLO mx.sender.example',
      'MAIL FROM:<ann@sender.example>',
      'RCPT TO:<hello@demo.test>',
      'DATA',
    )
    client.send(Buffer.from(`${message.toString('latin1').replaceAll('\r\n.', '\r\n..')}\r\n.\r\n`, 'latin1'))
    return acceptedMessageId(await client.reply(60_000))
  } finally {
    client.hangUp()
  }
}

const head = 'From: Ann <ann@sender.example>\r\nSubject: s\r\nMIME-Version: 1.0\r\n'

/** The body in each encoding that it can be received in. */
const forms = {
  '8 bit text': (body: string) => Buffer.from(`${head}Content-Type: text/plain; charset=utf-8\r\n\r\n${body}`),
  'text in base64': (body: string) =>
    Buffer.from(
      `${head}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(body).toString('base64')}`,
    ),
} as const

const post = async (path: string, json: object) => {
  const { status, json: answer } = await mailroom.api('POST', path, json)
  expect([status, answer.error]).toEqual([202, undefined])
  return answer
}
const hello = { from: 'hello@demo.test', to: 'bob@friend.test', subject: 'x' }

describe('a text that is sent is one message, line for line', () => {
  test.each(ends)('with %j', async end => {
    const text = bodyWith(end)
    const taken = await relayedOf(await post('/v1/emails', { ...hello, text }))
    expect(wireLines(taken)).toEqual(lines(text))
    if (/^[\r\n]+\.[\r\n]+$/.test(end)) expect(taken.wire.toString('latin1')).toContain('\r\n..\r\n')
  })

  test.each(endsWithNul)('and refused with %j', async end => {
    for (const form of ['text', 'html'])
      expect(await mailroom.api('POST', '/v1/emails', { ...hello, [form]: bodyWith(end) })).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request', param: form } },
      })
  })
})

test('html and attachments that are sent are in one message', async () => {
  const emails = [...ends, ...endsWithNul].map(end => {
    const content = Buffer.from(`Subject: x\r\n\r\n${bodyWith(end)}`).toString('base64')
    const attachments = ['text/plain', 'message/rfc822', 'application/x'].map((content_type, i) => ({
      filename: `${i}.eml`,
      content_type,
      content,
    }))
    const html = end.includes('\0') ? '<p>x</p>' : bodyWith(end)
    return post('/v1/emails', { ...hello, html, attachments })
  })
  for (const email of await Promise.all(emails)) await relayedOf(email)
})

for (const [form, make] of Object.entries(forms))
  describe(`what answers or forwards ${form} is one message`, () => {
    test.each([...ends, ...endsWithNul])('with %j', async end => {
      const body = bodyWith(end)
      const id = await receive(make(body))
      const [reply, forwarded, html] = [
        await post(`/v1/inbox/${id}/reply`, { text: bodyWith('\r\n.\r\n') }),
        await post(`/v1/inbox/${id}/forward`, { to: 'bob@friend.test' }),
        await post(`/v1/inbox/${id}/reply-all`, { html: '<p>x</p>' }),
      ]
      const shown = lines((await mailroom.api('GET', `/v1/inbox/${id}`)).json.text).map(withoutControls)
      expect(shown.join('')).toContain('MAIL FROM:<evil@x.test>')
      expect(wireLines(await relayedOf(forwarded)).slice(-shown.length)).toEqual(shown)
      const quoted = shown.map(line => (line === '' ? '>' : `> ${line}`))
      const answer = wireLines(await relayedOf(reply))
      expect(answer.slice(-quoted.length)).toEqual(quoted)
      expect(answer.slice(0, lines(bodyWith('\r\n.\r\n')).length)).toEqual(lines(bodyWith('\r\n.\r\n')))
      await relayedOf(html)
    })
  })

const withoutControls = (line: string) => line.replace(/[^\P{Cc}\t]/gu, '')

test('a custom header field adds no other lines', async () => {
  const word = (text: string) => `=?utf-8?b?${Buffer.from(text).toString('base64')}?=`
  const evil = bodyWith('\r\n.\r\n')
  const fields = [
    `From: ${word(evil)} <ann@sender.example>`,
    `Reply-To: ${word('x\r\nBcc: victim@y.test')} <r@sender.example>`,
    `Cc: ${word('a@b.test>\r\nRCPT TO:<victim@y.test')} <c@sender.example>`,
    `Subject: ${word(evil)}`,
    'Message-ID: <a\r\n .\r\n b@sender.example>',
    'References: <\u00ff@x> <ok@x>\r\n <x\ry@z> <x\n.\ny@z>',
  ]
  const id = await receive(Buffer.from(`${fields.join('\r\n')}\r\n\r\nHello\r\n`, 'latin1'))
  const emails = [
    await post(`/v1/inbox/${id}/reply`, { text: 'x' }),
    await post(`/v1/inbox/${id}/reply-all`, { html: 'x' }),
    await post(`/v1/inbox/${id}/forward`, { to: 'bob@friend.test' }),
  ]
  for (const email of emails) {
    const { wire, to } = await relayedOf(email)
    const header = wire.toString('latin1').split('\r\n\r\n')[0] ?? ''
    expect(header).not.toMatch(/^(?:bcc|rcpt to|mail from):/im)
    expect(header.match(/^subject:/gim)).toHaveLength(1)
    expect(to.join()).not.toMatch(/evil|victim/)
  }
})

test('none of these was understood as a command', () => {
  expect(relay.accepted.length).toBeGreaterThan(100)
  expect(relay.commands.filter(command => /evil|victim/.test(command))).toEqual([])
})
