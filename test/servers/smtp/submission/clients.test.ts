import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { parseMessage } from '../../../../src/mail/message.ts'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { canStartPostfix, startPostfix } from '../../../harness/postfix.ts'
import { headerValues, unstuffed } from '../../../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../../../harness/scripted-relay.ts'
import { sendMail } from '../../../harness/smtp-delivery.ts'
import { type SubmissionSettings, submissionWithTls } from '../../../harness/submission.ts'
import { swaks } from '../../../harness/swaks.ts'
import { until } from '../../../harness/until.ts'

/** Programs that people send with submit a message, and what the relay gets of it is looked at. */
let tls: SubmissionSettings
let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  tls = submissionWithTls('mail.demo.test')
  relay = await startScriptedRelay()
  const smarthost = { MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url }
  mailroom = await startMailroom({ ...tls.settings, ...smarthost })
}, 60_000)
afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
  tls?.remove()
}, 60_000)

/** The message with this in its subject, as the relay got it and parsed: signed, in 7 bit, without what is private. */
async function relayed(subject: string) {
  const find = async () => {
    for (const message of relay.accepted) {
      const text = unstuffed(message)
      const parsed = await parseMessage(Buffer.from(text, 'latin1'))
      if (parsed.subject.startsWith(subject)) return { to: message.to, text, parsed }
    }
    return undefined
  }
  const found = await until(find, {
    what: `${subject} at the relay`,
    details: () => mailroom.log.map(line => JSON.stringify(line)).join('\n'),
  })
  expect(found.text).toMatch(/^[\t\r\n -~]*$/)
  expect(found.text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  for (const name of ['DKIM-Signature', 'Date', 'Message-ID', 'X-Mailroom-Id', 'From'])
    expect({ name, count: headerValues(found.text, name).length }).toEqual({ name, count: 1 })
  for (const name of ['Bcc', 'X-Mailroom-Tag', 'Return-Path']) expect(headerValues(found.text, name)).toEqual([])
  expect(found.parsed.from[0]?.address).toBe('hello@demo.test')
  return found
}

async function tagsOf(text: string) {
  const { json } = await mailroom.api('GET', `/v1/emails/${headerValues(text, 'X-Mailroom-Id')[0]}`)
  expect(json.events[0]).toMatchObject({ type: 'queued', source: 'smtp' })
  return json.tags
}

/** Runs a program that is to send one message; fails with its output unless it succeeds. */
async function run(command: readonly string[], input = ''): Promise<void> {
  const running = Bun.spawn([...command], {
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, MAILROOM_KEY: mailroom.key, GOFLAGS: '', GO111MODULE: 'off' },
  })
  const [out, err, status] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
    running.exited,
  ])
  expect({ command: command[0], status, output: status === 0 ? '' : out + err }).toMatchObject({
    status: 0,
    output: '',
  })
}

const program = (name: string) => join(import.meta.dir, 'clients', name)

test('swaks, with STARTTLS and with TLS from the first byte', async () => {
  const login = ['--auth-user', 'app', '--auth-password', mailroom.key, '--from', 'hello@demo.test']
  const message = ['--to', 'bob@friend.test', '--header', 'X-Mailroom-Tag: client=swaks']
  for (const [subject, port, way] of [
    ['swaks PLAIN', mailroom.submission, ['--tls', '--auth', 'PLAIN']],
    ['swaks LOGIN', mailroom.submissions, ['--tls-on-connect', '--auth', 'LOGIN']],
  ] as const) {
    const { status, transcript } = await swaks(port, [...way, ...login, ...message, '--header', `Subject: ${subject}`])
    expect({ status, transcript }).toMatchObject({
      status: 0,
      transcript: expect.stringContaining('250 2.0.0 queued as eml_'),
    })
    const { text, parsed } = await relayed(subject)
    expect(parsed.text).toContain('This is a test mailing')
    expect(await tagsOf(text)).toEqual([{ name: 'client', value: 'swaks' }])
  }
})

test('msmtp, with a message of a script: raw UTF-8, without Date and Message-ID', async () => {
  const server = [
    '--host=localhost',
    `--port=${mailroom.submission}`,
    '--tls=on',
    `--tls-trust-file=${tls.certificateFile}`,
  ]
  const login = ['--auth=plain', '--user=app', '--passwordeval=printenv MAILROOM_KEY']
  const message =
    'From: hello@demo.test\nTo: bob@friend.test\nSubject: msmtp: Grüße\n\nGrüße aus der Shell\n.\n..\nEnde\n'
  await run(['msmtp', '--file=/dev/null', ...server, ...login, '--from=hello@demo.test', 'bob@friend.test'], message)
  const { parsed } = await relayed('msmtp')
  expect(parsed.subject).toBe('msmtp: Grüße')
  expect(parsed.text).toBe('Grüße aus der Shell\n.\n..\nEnde\n')
})

test('nodemailer, with HTML, an inline picture and an attachment', async () => {
  const transport = createTransport({
    host: 'localhost',
    port: mailroom.submission,
    requireTLS: true,
    auth: { user: 'app', pass: mailroom.key },
    tls: { ca: readFileSync(tls.certificateFile), servername: 'localhost' },
  })
  const sent = await transport.sendMail({
    from: 'hello@demo.test',
    to: 'bob@friend.test',
    bcc: 'secret@friend.test',
    subject: 'nodemailer: Grüße',
    text: 'Grüße\n.\n',
    html: '<p>Grüße <img src="cid:pic@app"></p>',
    attachments: [
      { filename: 'pic.png', content: Buffer.alloc(300, 7), cid: 'pic@app' },
      { filename: 'Übersicht.bin', content: Buffer.alloc(5000, 0xff) },
    ],
  })
  transport.close()
  expect(sent.response).toMatch(/^250 2\.0\.0 queued as eml_/)
  const { parsed, text } = await relayed('nodemailer')
  expect(parsed.html).toContain('Grüße')
  expect(parsed.attachments.map(({ filename, size, contentId }) => [filename, size, contentId])).toEqual([
    ['pic.png', 300, 'pic@app'],
    ['Übersicht.bin', 5000, null],
  ])
  expect(text).not.toContain('secret@')
  await until(() => relay.accepted.some(message => message.to.includes('secret@friend.test')))
})

test('Python’s smtplib', async () => {
  await run(['python3', program('send.py'), String(mailroom.submission), tls.certificateFile])
  const { parsed, text } = await relayed('smtplib')
  expect(parsed.subject).toBe('smtplib: Grüße')
  expect(parsed.from[0]?.name).toBe('Dém Ö')
  expect(parsed.text).toContain('Grüße aus Python\n.\n..zwei Punkte')
  expect(parsed.attachments[0]?.content).toEqual(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
  expect(await tagsOf(text)).toEqual([{ name: 'client', value: 'smtplib' }])
})

test('PHPMailer, with 8 bit text, Bcc and an attachment', async () => {
  await run(['php', program('send.php'), String(mailroom.submission), tls.certificateFile])
  const { parsed, text } = await relayed('phpmailer')
  expect(parsed.text).toContain('Grüße aus PHP\n.\nEnde')
  expect(parsed.html).toContain('<p>Grüße aus PHP</p>')
  expect(parsed.attachments[0]).toMatchObject({ filename: 'Übersicht.bin', size: 200 })
  expect(await tagsOf(text)).toEqual([{ name: 'client', value: 'phpmailer' }])
})

test('Go’s net/smtp', async () => {
  await run(['go', 'run', program('send.go'), String(mailroom.submission), tls.certificateFile])
  const { parsed, text } = await relayed('net/smtp')
  expect(parsed.subject).toBe('net/smtp: Grüße')
  expect(parsed.text).toBe('Grüße aus Go\n.\nEnde\n')
  expect(await tagsOf(text)).toEqual([{ name: 'client', value: 'net/smtp' }])
}, 60_000)

test.skipIf(!canStartPostfix)(
  'Postfix as the client of all programs of a machine',
  async () => {
    const postfix = await startPostfix(mailroom.submission, {
      smtp_sasl_auth_enable: 'yes',
      smtp_sasl_password_maps: `static:app:${mailroom.key}`,
      smtp_sasl_security_options: 'noanonymous',
      smtp_tls_security_level: 'encrypt',
    })
    try {
      const header =
        'From: hello@demo.test\r\nTo: bob@friend.test\r\nSubject: Postfix\r\nMessage-ID: <kept@web1.internal>\r\n'
      const mail = { from: 'www-data@web1.internal', to: ['bob@friend.test', 'ann@friend.test'] }
      expect(await sendMail(postfix.port, Buffer.from(`${header}\r\nGrüße\r\n`), mail)).toStartWith('250 ')
      const { parsed, text } = await relayed('Postfix').catch(error => {
        throw new Error(`${error}\n${postfix.log()}`)
      })
      expect(parsed.text).toBe('Grüße\n')
      expect(headerValues(text, 'Message-ID')).toEqual(['<kept@web1.internal>'])
      expect(headerValues(text, 'Received').length).toBeGreaterThanOrEqual(2)
      await until(() => relay.accepted.filter(message => unstuffed(message).includes('Subject: Postfix')).length === 2)
    } finally {
      await postfix.stop()
    }
  },
  60_000,
)
