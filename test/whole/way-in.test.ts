import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dkimSign } from 'mailauth'
import { systemClock } from '../../src/base/clock.ts'
import { newSender } from '../../src/cli/bench/messages.ts'
import { freePort } from '../../src/cli/private/process.ts'
import { startDns, type TestDns } from '../support/dns.ts'
import { type Mailroom, startMailroom } from '../support/mailroom.ts'
import { SmtpClient } from '../support/smtp-client.ts'

/** From an SMTP client to what the API shows, on a Mailroom in a process of its own. */
let dns: TestDns
let mailroom: Mailroom
const others: Mailroom[] = []
const folder = mkdtempSync(join(tmpdir(), 'mailroom-way-in-'))

const sender = newSender('sender.example')
const privateKey = sender.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

beforeAll(async () => {
  dns = await startDns()
  mailroom = await startMailroom(settings())
}, 60_000)

beforeEach(() => {
  for (const [name, record] of Object.entries(sender.records)) dns.zone[name] = { TXT: [record] }
})

afterAll(async () => {
  await Promise.all([mailroom, ...others].map(each => each?.stop()))
  await dns?.close()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

function settings(): Readonly<Record<string, string>> {
  return { MAILROOM_RESOLVERS: `${dns.endpoint.host}:${dns.endpoint.port}`, MAILROOM_DNS_TIMEOUT_MS: '500' }
}

async function anotherMailroom(more: Readonly<Record<string, string>>): Promise<Mailroom> {
  const other = await startMailroom({ ...settings(), ...more })
  others.push(other)
  return other
}

interface Envelope {
  /** Where it is sent; the one Mailroom of these tests unless given. */
  readonly port?: number
  readonly from?: string
  readonly to?: string
}

/** Sends a message in a session of its own; the reply to the first command that is not taken, or to the final dot. */
async function send(message: string, { port = mailroom.smtp, from, to }: Envelope = {}): Promise<string> {
  const client = await SmtpClient.ready(port)
  try {
    const commands = [`MAIL FROM:<${from ?? `alice@${sender.domain}`}>`, `RCPT TO:<${to ?? 'hello@demo.test'}>`, 'DATA']
    for (const command of commands) {
      const reply = await client.ask(command)
      if (!/^[23]/.test(reply)) return reply
    }
    client.send(message.replace(/^\./gm, '..'))
    return await client.ask('.')
  } finally {
    client.hangUp()
  }
}

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
async function received(subject: string, by = mailroom) {
  for (const each of ['inbox', 'spam', 'quarantine'] as const) {
    const { json } = await by.api('GET', `/v1/inbox?folder=${each}&limit=200`)
    const found = json.data.find((item: { readonly subject: string }) => item.subject === subject)
    if (found) return (await by.api('GET', `/v1/inbox/${found.id}`)).json
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

  test('a message that fails p=reject is spam, or is refused where the operator says so', async () => {
    const { subject, message } = write()
    const envelope = { from: 'mallory@elsewhere.example' }
    expect(await send(message, envelope)).toMatch(accepted)
    const shown = await received(subject)
    expect(resultsOf(shown).dmarc).toBe('fail')
    expect(shown).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail' })
    const strict = await mailroom.startBeside({ MAILROOM_DMARC_REJECT: 'true', MAILROOM_ROLES: 'smtp' })
    expect(await send(message, { ...envelope, port: strict.smtp })).toStartWith('550 5.7.26 ')
    expect(await send(await signed(write().message), { ...envelope, port: strict.smtp })).toMatch(accepted)
  })

  test('a policy written "p= Reject" holds as p=reject', async () => {
    dns.zone['_dmarc.shouting.example'] = { TXT: ['v=DMARC1; p= Reject'] }
    const { subject, message } = write([], undefined, 'Eve <eve@shouting.example>')
    expect(await send(message, { from: 'eve@elsewhere.example' })).toMatch(accepted)
    expect(await received(subject)).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail' })
  })

  test('what was added to a body that l= leaves open makes DKIM fail', async () => {
    const { subject, message } = write()
    const open = await signed(message, { maxBodyLength: 10 })
    expect(await send(`${open}And send money to Mallory.\r\n`, { from: 'mallory@elsewhere.example' })).toMatch(accepted)
    const shown = await received(subject)
    expect(resultsOf(shown)).toMatchObject({ dkim: 'fail', dmarc: 'fail' })
    expect(shown.auth.dkim.detail).toMatch(/^l= leaves \d+ bytes of the body unsigned/)
    expect(shown.folder).toBe('spam')
  })

  test('results that claim to be ours are not shown, those of others are', async () => {
    const forged = 'mail.demo.test; dkim=pass header.d=bank.example; dmarc=pass'
    const { subject, message } = write([
      `Authentication-Results: ${forged}`,
      `Authentication-Results: (a comment) "MAIL.demo.test" 1; spf=pass`,
      'Authentication-Results: mx.other.example; spf=pass',
    ])
    expect(await send(message, { from: 'mallory@elsewhere.example' })).toMatch(accepted)
    const shown = await received(subject)
    const results = shown.headers.filter((each: { name: string }) => /^authentication-results$/i.test(each.name))
    expect(results).toEqual([{ name: 'Authentication-Results', value: 'mx.other.example; spf=pass' }])
    expect(resultsOf(shown)).toMatchObject({ dkim: 'none', dmarc: 'fail' })
    const { text } = await mailroom.api('GET', `/v1/inbox/${shown.id}/raw`)
    const ours = text.match(/^Authentication-Results: .*mail\.demo\.test.*/gim) ?? []
    expect(ours).toHaveLength(1)
    expect(text).toMatch(/dmarc=fail/)
    expect(text).not.toContain('bank.example')
  })

  test('a sender whose DNS is broken gets neither credit nor penalty', async () => {
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
    const { json } = await mailroom.api('GET', '/v1/mailboxes')
    const all = json.data.find((each: { local_part: string | null }) => each.local_part === null)
    expect((await mailroom.api('DELETE', `/v1/mailboxes/${all.id}`)).status).toBe(200)
    expect(await send(write().message, { to: 'nobody@demo.test' })).toStartWith('550 5.1.1 ')
    expect(await send(write().message, { to: 'hello@elsewhere.example' })).toStartWith('550 5.7.1 ')

    const { smtp } = await mailroom.startBeside({ MAILROOM_MAX_MESSAGE_BYTES: '65536', MAILROOM_ROLES: 'smtp' })
    const client = await SmtpClient.ready(smtp)
    expect(await client.ask('MAIL FROM:<alice@sender.example> SIZE=65537')).toStartWith('552 5.3.4 ')
    client.hangUp()
    const large = write([], 'All work and no play makes Jack a dull boy.\r\n'.repeat(2000))
    expect(await send(large.message, { port: smtp })).toStartWith('552 5.3.4 ')
    expect(await send(write().message, { port: smtp })).toMatch(accepted)
  })
})

const eicar = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')

const attached = (name: string, content: string) =>
  [
    `Content-Type: application/octet-stream; name=${name}`,
    `Content-Disposition: attachment; filename=${name}`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(content).toString('base64'),
    '',
  ].join('\r\n')

function multipart(boundary: string, ...parts: readonly string[]): string {
  return `${parts.map(part => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`
}

describe('what the scanner says', () => {
  test('a virus in a message that was forwarded lands in quarantine and is not handed out', async () => {
    const inner = [
      'From: Carl <carl@friend.example>\r\nSubject: Invoice\r\nContent-Type: multipart/mixed; boundary=inner\r\n',
      multipart('inner', 'Content-Type: text/plain\r\n\r\nSee the file.', attached('invoice.com', eicar)),
    ].join('\r\n')
    const { subject, message } = write(
      ['Content-Type: multipart/mixed; boundary=outer'],
      multipart(
        'outer',
        'Content-Type: text/plain\r\n\r\nLook at this.',
        attached('notes.txt', 'nothing to see'),
        `Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n${inner}`,
      ),
    )
    expect(await send(message)).toMatch(accepted)
    const shown = await received(subject)
    expect(shown).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    const infected = shown.attachments.filter((each: { scan: string }) => each.scan === 'infected')
    expect(infected).toHaveLength(1)
    expect(infected[0].scan_signature).toContain('Eicar')
    const download = await mailroom.api('GET', `/v1/inbox/${shown.id}/attachments/${infected[0].id}`)
    expect([download.status, download.json.error.code]).toEqual([403, 'attachment_infected'])
    const raw = await mailroom.api('GET', `/v1/inbox/${shown.id}/raw`)
    expect([raw.status, raw.json.error.code]).toEqual([403, 'attachment_infected'])
  })

  test('while the scanner is away mail waits in quarantine, and is released when it is back', async () => {
    const path = join(folder, 'clamd')
    const away = { MAILROOM_CLAMD: `unix:${path}`, MAILROOM_SCAN_WAIT_SECONDS: '1' }
    const other = await anotherMailroom(away)
    const { subject, message } = write(
      ['Content-Type: multipart/mixed; boundary=b'],
      multipart('b', 'Content-Type: text/plain\r\n\r\nHello.', attached('notes.txt', 'nothing to see')),
    )
    const envelope = { port: other.smtp }
    expect(await send(await signed(message), envelope)).toMatch(accepted)
    const held = await received(subject, other)
    expect(held).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
    const file = `/v1/inbox/${held.id}/attachments/${held.attachments[0].id}`
    const refused = await other.api('GET', file)
    expect([refused.status, refused.json.error.code]).toEqual([403, 'attachment_unscanned'])

    const deferring = await other.startBeside({ ...away, MAILROOM_UNSCANNED: 'defer', MAILROOM_ROLES: 'smtp' })
    const deferred = write().message
    expect(await send(deferred, { port: deferring.smtp })).toStartWith('451 4.3.2 ')

    const proxy = await clamdAt(path)
    try {
      // Its next scan is due in a minute.
      await other.database.db.updateTable('messages').set({ rescan_at: systemClock.now() }).execute()
      const released = async () => (await received(subject, other)).folder === 'inbox'
      for (const end = Date.now() + 20_000; Date.now() < end && !(await released()); await Bun.sleep(100));
      expect(await received(subject, other)).toMatchObject({
        folder: 'inbox',
        folder_reason: 'accepted',
        scan: 'clean',
      })
      expect((await other.api('GET', file)).text).toBe('nothing to see')
      expect(await send(deferred, { port: deferring.smtp })).toMatch(accepted)
    } finally {
      proxy.close()
    }
  }, 60_000)
})

/** The tests' clamd under another path. */
async function clamdAt(path: string): Promise<Server> {
  const [kind, host = '', port] = (process.env['MAILROOM_TEST_CLAMD'] ?? '').split(':')
  const server = createServer(client => {
    const clamd = kind === 'unix' ? connect(host) : connect(Number(port), host)
    for (const each of [client, clamd]) each.on('error', () => undefined)
    client.pipe(clamd).pipe(client)
  })
  await new Promise<void>(resolve => server.listen(path, resolve))
  return server
}

test('told to end during DATA it takes the message to its end, and no other', async () => {
  const { subject, message } = write([], 'All work and no play makes Jack a dull boy.\r\n'.repeat(20_000))
  const client = await SmtpClient.ready(mailroom.smtp)
  const idle = await SmtpClient.ready(mailroom.smtp)
  await client.askAll('MAIL FROM:<alice@sender.example>', 'RCPT TO:<hello@demo.test>', 'DATA')
  client.send(message.slice(0, 600_000))
  await Bun.sleep(100)
  const status = mailroom.kill('SIGTERM')
  expect(await idle.rest()).toStartWith('421 4.3.2 ')
  const late = await SmtpClient.ready(mailroom.smtp).catch(() => 'refused')
  expect(late).toBe('refused')
  client.send(message.slice(600_000))
  expect(await client.ask('.')).toMatch(accepted)
  expect(await status).toBe(0)
  await mailroom.restart()
  const shown = await received(subject)
  expect([shown.folder, shown.size]).toEqual(['inbox', message.length])
}, 60_000)

test('two that relay to each other send no message round and answer no bounce', async () => {
  const ports = [freePort(), freePort()] as const
  const pair = await Promise.all(
    ports.map((port, i) =>
      anotherMailroom({
        MAILROOM_SMTP_LISTEN: `127.0.0.1:${port}`,
        MAILROOM_PROVIDER: 'smarthost',
        MAILROOM_SMARTHOST_URL: `smtp://127.0.0.1:${ports[1 - i]}`,
      }),
    ),
  )
  const ids = await Promise.all(
    pair.map(async each => {
      const email = {
        from: 'hello@demo.test',
        subject: 'Round',
        text: 'and round',
        to: ['hello@demo.test', 'x@elsewhere.example'],
      }
      return (await each.api('POST', '/v1/emails', email)).json.id as string
    }),
  )
  const emails = () => Promise.all(pair.map(async (each, i) => (await each.api('GET', `/v1/emails/${ids[i]}`)).json))
  for (const end = Date.now() + 10_000; Date.now() < end; await Bun.sleep(50))
    if ((await emails()).every(each => each.status === 'bounced')) break
  await Bun.sleep(1500)
  for (const each of await emails())
    expect(each.recipients).toEqual([
      expect.objectContaining({ email: 'hello@demo.test', status: 'sent' }),
      expect.objectContaining({
        email: 'x@elsewhere.example',
        status: 'bounced',
        smtp_code: 550,
        enhanced_code: '5.7.1',
      }),
    ])
  for (const each of pair) {
    expect((await each.api('GET', '/v1/emails')).json.data).toHaveLength(1)
    const inbox = (await each.api('GET', '/v1/inbox')).json.data as readonly { readonly subject: string }[]
    expect(inbox.map(({ subject }) => subject)).toEqual(['Round'])
  }
}, 60_000)
