import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freePort } from '../../src/cli/private/process.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { messageOf } from '../harness/inbox.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { acceptedMessageId, readMessage, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** Receiving during a shutdown, without DNS servers, and mail in loops. */
let dns: TestDns
const started: Mailroom[] = []

beforeAll(async () => {
  dns = await startDns()
})

afterAll(async () => {
  await Promise.all(started.map(mailroom => mailroom.stop()))
  await dns.close()
}, 60_000)

async function newMailroom(more: Readonly<Record<string, string>> = {}): Promise<Mailroom> {
  const servers = { MAILROOM_RESOLVERS: `127.0.0.1:${dns.endpoint.port}`, MAILROOM_DNS_TIMEOUT_MS: '500' }
  const mailroom = await startMailroom({ ...servers, ...more })
  started.push(mailroom)
  return mailroom
}

test('a shutdown during DATA accepts that message, and no other', async () => {
  const mailroom = await newMailroom()
  const message = messageOf([], 'All work and no play makes Jack a dull boy.\r\n'.repeat(20_000))
  const client = await SmtpClient.ready(mailroom.smtp)
  const idle = await SmtpClient.ready(mailroom.smtp)
  await client.commands('MAIL FROM:<alice@sender.example>', 'RCPT TO:<hello@demo.test>', 'DATA')
  client.send(message.subarray(0, 600_000))
  // Time for the server to receive some of it; nothing shows that from outside.
  await Bun.sleep(100)
  const status = mailroom.kill('SIGTERM')
  expect(await idle.rest()).toStartWith('421 4.3.2 ')
  const late = await SmtpClient.ready(mailroom.smtp).catch(() => 'refused')
  expect(late).toBe('refused')
  client.send(message.subarray(600_000))
  const id = acceptedMessageId(await client.command('.'))
  expect(await status).toBe(0)
  await mailroom.restart()
  expect(await readMessage(mailroom, id)).toMatchObject({ folder: 'inbox', size: message.length })
}, 60_000)

test('defers mail while no DNS server answers, and accepts it when one does', async () => {
  const ourName = 'mx.ours.example'
  const mailroom = await newMailroom({ MAILROOM_DNS_CANARY: ourName })
  const silent = ['sender.example', '_dmarc.sender.example']
  for (const name of silent) dns.zone[name] = { behaviour: { silent: true } }
  const temperror = { auth: { spf: { result: 'temperror' }, dmarc: { result: 'temperror' } }, folder: 'inbox' }
  expect(await readMessage(mailroom, acceptedMessageId(await sendMail(mailroom.smtp, messageOf())))).toMatchObject(
    temperror,
  )

  dns.zone[ourName] = { behaviour: { silent: true } }
  // The result of the canary lookup is cached for a second.
  await Bun.sleep(1000)
  const message = messageOf()
  expect(await sendMail(mailroom.smtp, message)).toBe('451 4.4.3 DNS lookups fail now, try again later')
  const ready = await mailroom.api('GET', '/ready')
  expect([ready.status, ready.json.resolver]).toEqual([503, { ready: false, detail: 'no DNS server answers' }])

  for (const name of [...silent, ourName]) delete dns.zone[name]
  expect(await readMessage(mailroom, acceptedMessageId(await sendMail(mailroom.smtp, message)))).toMatchObject({
    folder: 'inbox',
  })
}, 60_000)

describe('loops', () => {
  let pair: readonly [Mailroom, Mailroom]

  beforeAll(async () => {
    const ports = [freePort(), freePort()] as const
    const toward = (own: number, other: number) =>
      newMailroom({
        MAILROOM_SMTP_LISTEN: `127.0.0.1:${own}`,
        MAILROOM_PROVIDER: 'smarthost',
        MAILROOM_SMARTHOST_URL: `smtp://127.0.0.1:${other}`,
      })
    pair = await Promise.all([toward(...ports), toward(ports[1], ports[0])])
  }, 60_000)

  test('two that relay to each other send no message in a loop and reply to no bounce', async () => {
    const ids = await Promise.all(
      pair.map(async mailroom => {
        const email = {
          from: 'hello@demo.test',
          subject: 'Round',
          text: 'and round',
          to: ['hello@demo.test', 'x@elsewhere.example'],
        }
        return (await mailroom.api('POST', '/v1/emails', email)).json.id as string
      }),
    )
    const emails = () =>
      Promise.all(pair.map(async (mailroom, i) => (await mailroom.api('GET', `/v1/emails/${ids[i]}`)).json))
    await until(async () => (await emails()).every(email => email.status === 'bounced'))
    // Nothing more may happen now.
    await Bun.sleep(1500)
    for (const email of await emails())
      expect(email.recipients).toEqual([
        expect.objectContaining({ email: 'hello@demo.test', status: 'sent' }),
        expect.objectContaining({
          email: 'x@elsewhere.example',
          status: 'bounced',
          smtp_code: 550,
          enhanced_code: '5.7.1',
        }),
      ])
    for (const mailroom of pair) {
      expect((await mailroom.api('GET', '/v1/emails')).json.data).toHaveLength(1)
      const inbox = (await mailroom.api('GET', '/v1/inbox')).json.data as readonly { readonly subject: string }[]
      expect(inbox.map(({ subject }) => subject)).toEqual(['Round'])
    }
  }, 60_000)

  test('a message that a third party forwards back and forth is refused after 50 servers', async () => {
    let message = messageOf(['Subject: Round and round'])
    let replies = 0
    for (let reply = ''; ; replies++) {
      const here = pair[replies % 2 === 0 ? 0 : 1]
      reply = await sendMail(here.smtp, message)
      if (!reply.startsWith('250 ')) {
        expect(reply).toBe('554 5.4.6 The message has gone through too many servers')
        break
      }
      const { text } = await here.api('GET', `/v1/inbox/${acceptedMessageId(reply)}/raw`)
      message = Buffer.from(text.replace(/^Return-Path:.*\r\n/, ''))
      expect(replies).toBeLessThan(60)
    }
    expect(replies).toBe(50)
    for (const mailroom of pair) expect((await mailroom.api('GET', '/v1/emails')).json.data).toHaveLength(1)
  }, 60_000)
})
