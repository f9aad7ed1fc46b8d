import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { dkimSign } from 'mailauth'
import { newBenchSender } from '../../src/cli/bench/messages.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { type Envelope, findMailboxId, sendMail } from '../harness/smtp-delivery.ts'

/** From an SMTP client to what the API shows, with a Mailroom process. */
let dns: TestDns
let mailroom: Mailroom

const sender = newBenchSender('sender.example')
const privateKey = sender.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

beforeAll(async () => {
  dns = await startDns()
  const resolvers = `${dns.endpoint.host}:${dns.endpoint.port}`
  mailroom = await startMailroom({ MAILROOM_RESOLVERS: resolvers, MAILROOM_DNS_TIMEOUT_MS: '500' })
}, 60_000)

beforeEach(() => {
  for (const [name, record] of Object.entries(sender.records)) dns.zone[name] = { TXT: [record] }
})

afterAll(async () => {
  await mailroom?.stop()
  await dns?.close()
}, 60_000)

interface Sent extends Envelope {
  /** Where it is sent; the one Mailroom of these tests unless given. */
  readonly port?: number
}

const send = (message: string, { port = mailroom.smtp, ...envelope }: Sent = {}) => sendMail(port, message, envelope)

let last = 0

interface Written {
  readonly subject: string
  readonly message: string
}

/** A message from `from` with a subject that no other has. */
function write(
  lines: readonly string[] = [],
  body = 'Hello Bob,\r\n\r\nthis is all.\r\n',
  from = `Alice <alice@${sender.domain}>`,
): Written {
  const subject = `Message ${++last}`
  const head = [`From: ${from}`, 'To: hello@demo.test', `Subject: ${subject}`, `Message-ID: <${last}@sender.example>`]
  return { subject, message: `${[...head, ...lines].join('\r\n')}\r\n\r\n${body}` }
}

/** The message with a signature of the sender's domain in front. */
async function signed(message: string, how: { readonly maxBodyLength?: number } = {}): Promise<string> {
  const signature = { signingDomain: sender.domain, selector: sender.selector, privateKey, ...how }
  const { signatures, errors } = await dkimSign(message, { ...signature, signatureData: [signature] })
  expect(errors).toEqual([])
  return signatures + message
}

/** The message with this subject as the API shows it, and the folder that it is in. */
async function received(subject: string) {
  for (const folder of ['inbox', 'spam', 'quarantine'] as const) {
    const { json } = await mailroom.api('GET', `/v1/inbox?folder=${folder}&limit=200`)
    const found = json.data.find((item: { readonly subject: string }) => item.subject === subject)
    if (found) return (await mailroom.api('GET', `/v1/inbox/${found.id}`)).json
  }
  throw new Error(`no message "${subject}" was filed`)
}

const resultsOf = ({ auth }: { readonly auth: Record<'spf' | 'dkim' | 'dmarc', { readonly result: string }> }) => ({
  spf: auth.spf.result,
  dkim: auth.dkim.result,
  dmarc: auth.dmarc.result,
})

const accepted = /^250 2\.0\.0 /

describe('who sent it', () => {
  test('a message signed with a key of 2048 bits, from the right place, passes SPF, DKIM and DMARC', async () => {
    const { subject, message } = write()
    expect(await send(await signed(message))).toMatch(accepted)
    const shown = await received(subject)
    expect(resultsOf(shown)).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'pass' })
    expect(shown).toMatchObject({ folder: 'inbox', folder_reason: 'accepted', scan: 'clean' })
    expect(shown).toMatchObject({
      from: { address: 'alice@sender.example', name: 'Alice' },
      message_id: `${last}@sender.example`,
    })
    expect(shown.text).toBe('Hello Bob,\n\nthis is all.\n')
    expect(shown.auth.dkim).toMatchObject({ domain: 'sender.example', aligned: true })
  })

  test('a message that fails p=reject is spam, or rejected if so configured', async () => {
    const { subject, message } = write()
    const envelope = { from: 'mallory@elsewhere.example' }
    expect(await send(message, envelope)).toMatch(accepted)
    const shown = await received(subject)
    expect(resultsOf(shown).dmarc).toBe('fail')
    expect(shown).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail' })
    const strict = await mailroom.startSecondProcess({ MAILROOM_DMARC_REJECT: 'true', MAILROOM_ROLES: 'smtp' })
    expect(await send(message, { ...envelope, port: strict.smtp })).toStartWith('550 5.7.26 ')
    expect(await send(await signed(write().message), { ...envelope, port: strict.smtp })).toMatch(accepted)
  })

  test('a policy written "p= Reject" counts as p=reject', async () => {
    dns.zone['_dmarc.shouting.example'] = { TXT: ['v=DMARC1; p= Reject'] }
    const { subject, message } = write([], undefined, 'Eve <eve@shouting.example>')
    expect(await send(message, { from: 'eve@elsewhere.example' })).toMatch(accepted)
    expect(await received(subject)).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail' })
  })

  test('text added to a body that l= leaves unsigned makes DKIM fail', async () => {
    const { subject, message } = write()
    const open = await signed(message, { maxBodyLength: 10 })
    expect(await send(`${open}And send money to Mallory.\r\n`, { from: 'mallory@elsewhere.example' })).toMatch(accepted)
    const shown = await received(subject)
    expect(resultsOf(shown)).toMatchObject({ dkim: 'fail', dmarc: 'fail' })
    expect(shown.auth.dkim.detail).toMatch(/^l= leaves \d+ bytes of the body unsigned/)
    expect(shown.folder).toBe('spam')
  })

  test('Authentication-Results that claim to be ours are not shown, those of others are', async () => {
    const forged = 'mail.demo.test; dkim=pass header.d=bank.example; dmarc=pass'
    const { subject, message } = write([
      `Authentication-Results: ${forged}`,
      `Authentication-Results: (a comment) "MAIL.demo.test" 1; spf=pass`,
      'Authentication-Results: mx.other.example; spf=pass',
    ])
    expect(await send(message, { from: 'mallory@elsewhere.example' })).toMatch(accepted)
    const shown = await received(subject)
    const results = shown.headers.filter((header: { name: string }) => /^authentication-results$/i.test(header.name))
    expect(results).toEqual([{ name: 'Authentication-Results', value: 'mx.other.example; spf=pass' }])
    expect(resultsOf(shown)).toMatchObject({ dkim: 'none', dmarc: 'fail' })
    const { text } = await mailroom.api('GET', `/v1/inbox/${shown.id}/raw`)
    const ours = text.match(/^Authentication-Results: .*mail\.demo\.test.*/gim) ?? []
    expect(ours).toHaveLength(1)
    expect(text).toMatch(/dmarc=fail/)
    expect(text).not.toContain('bank.example')
  })

  test('a sender with broken DNS gets neither credit nor penalty', async () => {
    for (const name of ['broken.example', '_dmarc.broken.example', 's1._domainkey.broken.example'])
      dns.zone[name] = { behaviour: { rcode: 'SERVFAIL' } }
    const { subject, message } = write([], undefined, 'Bob <bob@broken.example>')
    expect(await send(message, { from: 'bob@broken.example' })).toMatch(accepted)
    const shown = await received(subject)
    expect(resultsOf(shown)).toEqual({ spf: 'temperror', dkim: 'none', dmarc: 'temperror' })
    expect(shown.folder).toBe('inbox')
  })
})

describe('what is refused in the session', () => {
  test('two From fields, and one with two authors', async () => {
    const twice = write(['From: Bank <service@bank.example>'])
    expect(await send(twice.message)).toStartWith('550 5.7.1 ')
    const two = write([], undefined, 'alice@sender.example, service@bank.example')
    expect(await send(two.message)).toStartWith('550 5.7.1 ')
  })

  test('a message that went through 50 servers', async () => {
    const hop = 'Received: from a.example by b.example; Mon, 01 Jan 2029 00:00:00 +0000'
    expect(await send(write(Array(50).fill(hop)).message)).toStartWith('554 5.4.6 ')
    expect(await send(write(Array(49).fill(hop)).message)).toMatch(accepted)
  })

  test('an unknown mailbox, an unknown domain, and what is too large by its announcement or by its bytes', async () => {
    expect((await mailroom.api('DELETE', `/v1/mailboxes/${await findMailboxId(mailroom, null)}`)).status).toBe(200)
    expect(await send(write().message, { to: ['nobody@demo.test'] })).toStartWith('550 5.1.1 ')
    expect(await send(write().message, { to: ['hello@elsewhere.example'] })).toStartWith('550 5.7.1 ')

    const { smtp } = await mailroom.startSecondProcess({ MAILROOM_MAX_MESSAGE_BYTES: '65536', MAILROOM_ROLES: 'smtp' })
    const client = await SmtpClient.ready(smtp)
    expect(await client.command('MAIL FROM:<alice@sender.example> SIZE=65537')).toStartWith('552 5.3.4 ')
    client.hangUp()
    const large = write([], 'All work and no play makes Jack a dull boy.\r\n'.repeat(2000))
    expect(await send(large.message, { port: smtp })).toStartWith('552 5.3.4 ')
    expect(await send(write().message, { port: smtp })).toMatch(accepted)
  })
})
