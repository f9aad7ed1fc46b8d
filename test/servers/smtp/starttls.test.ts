import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import pino from 'pino'
import { fileCertificates } from '../../../src/ports/certificates/files.ts'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'
import { until } from '../../harness/until.ts'

let server: TestSmtpServer
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const [tlsKey, tlsCert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const openssl = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-subj', '/CN=mx.ours.test', '-days', '2', '-keyout', tlsKey, '-out', tlsCert],
  ])
  if (!openssl.success) throw new Error(openssl.stderr.toString())
  const certificates = fileCertificates({ certFile: tlsCert, keyFile: tlsKey, log: pino({ level: 'silent' }) })
  server = await openTestSmtpServer({}, { handshakeMs: 300 }, undefined, certificates)
})

afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

test('nodemailer delivers over STARTTLS', async () => {
  const transport = createTransport({
    host: '127.0.0.1',
    port: server.port,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
  })
  const sent = await transport.sendMail({
    envelope: { from: 'a@b.test', to: ['hello@ours.test'] },
    raw: `From: a@b.test\r\n\r\n.dot\r\n${'x'.repeat(300_000)}\r\n`,
  })
  transport.close()
  expect(sent.response).toStartWith('250 2.0.0 ')
  const mail = server.inbound.received.at(-1)
  expect(mail?.tls).toMatch(/^TLSv1\.3 TLS_/)
  expect(mail?.bytes.toString()).toStartWith('From: a@b.test\r\n\r\n.dot\r\nxxx')
})

test('openssl gets our certificate', async () => {
  const client = Bun.spawn(
    ['openssl', 's_client', '-starttls', 'smtp', '-connect', `127.0.0.1:${server.port}`, '-crlf', '-quiet'],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
  )
  const decoder = new TextDecoder()
  let errorOutput = ''
  void (async () => {
    for await (const bytes of client.stderr) errorOutput += decoder.decode(bytes)
  })()
  await until(() => errorOutput.includes('CN = mx.ours.test'))
  client.stdin.write('NOOP\nQUIT\n')
  client.stdin.end()
  expect(await new Response(client.stdout).text()).toContain('250 2.0.0 OK')
  await client.exited
})

test('is offered once, and resets the session', async () => {
  const client = await SmtpClient.connect(server.port)
  await client.reply()
  expect(await client.command('EHLO before.test')).toContain('STARTTLS')
  await client.commands('MAIL FROM:<before@b.test>', 'RCPT TO:<hello@ours.test>')
  expect(await client.command('STARTTLS')).toBe('220 2.0.0 Ready to start TLS')
  await client.upgrade()
  expect(await client.command('MAIL FROM:<a@b.test>')).toStartWith('503 5.5.1 ')
  expect(await client.command('EHLO after.test')).not.toContain('STARTTLS')
  expect(await client.command('DATA')).toStartWith('503 5.5.1 ')
  await client.commands('MAIL FROM:<after@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')
  expect(await client.command('x\r\n.')).toStartWith('250 2.0.0 ')
  expect(server.inbound.received.at(-1)).toMatchObject({ helo: 'after.test', mailFrom: 'after@b.test' })
  expect(await client.command('STARTTLS')).toStartWith('5')
  client.hangUp()
})

test('discards commands that were pipelined after STARTTLS, before and after the handshake', async () => {
  const injected = 'EHLO evil.test\r\nMAIL FROM:<evil@b.test>\r\nRCPT TO:<hello@ours.test>\r\n'
  for (const rest of [injected, `${injected}DATA\r\n`, 'RSET\r\nEHLO ev', injected.repeat(120)]) {
    const client = await SmtpClient.connect(server.port)
    await client.reply()
    await client.command('EHLO client.test')
    client.send(`STARTTLS\r\n${rest}`)
    expect(await client.reply()).toStartWith('220 ')
    await client.upgrade()
    // If an injected EHLO had run, this would be 250, or 503 with another text.
    expect(await client.command('RCPT TO:<hello@ours.test>')).toBe('503 5.5.1 Error: send HELO/EHLO first')
    expect(await client.command('EHLO client.test')).toStartWith('250-mx.ours.test')
    expect(await client.command('MAIL FROM:<a@b.test>')).toBe('250 2.1.0 Go on')
    client.hangUp()
  }
  expect(server.inbound.received.some(({ mailFrom }) => mailFrom === 'evil@b.test')).toBe(false)
})

test('closes the session when the handshake fails or never starts, and serves others', async () => {
  for (const hello of ['', 'this is no handshake\r\n']) {
    const client = await SmtpClient.ready(server.port)
    expect(await client.command('STARTTLS')).toStartWith('220 ')
    client.send(hello)
    // No plain text is sent during the handshake; a TLS alert may be.
    expect(await client.rest(8000)).not.toContain('421')
    const other = await SmtpClient.ready(server.port)
    other.hangUp()
  }
})
