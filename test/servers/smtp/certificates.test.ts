import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TLSSocket } from 'node:tls'
import {
  type CertificatePair,
  createTestAuthority,
  runTlsClient,
  type TestAuthority,
} from '../../harness/certificates.ts'
import { replaceableCertificates } from '../../harness/replaceable-certificates.ts'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'

let root: TestAuthority
let pairs: readonly [CertificatePair, CertificatePair]
const certificates = replaceableCertificates()
let server: TestSmtpServer

beforeAll(async () => {
  root = createTestAuthority()
  pairs = [root.issue(['mx.ours.test']), root.issue(['other.test', 'mx.ours.test'])]
  server = await openTestSmtpServer({}, {}, undefined, certificates)
})
afterAll(async () => {
  await server.close()
  root.close()
})

const namesOf = (socket: TLSSocket) => socket.getPeerCertificate().subjectaltname
const secure = async () => {
  const client = await SmtpClient.ready(server.port)
  expect(await client.command('STARTTLS')).toStartWith('220 ')
  return { client, socket: await client.upgrade() }
}

test('STARTTLS is offered from the first certificate on, and later sessions get later certificates', async () => {
  const early = await SmtpClient.ready(server.port)
  expect(await early.command('EHLO client.test')).not.toContain('STARTTLS')
  expect(await early.command('STARTTLS')).toStartWith('5')

  certificates.replace(pairs[0])
  expect(await early.command('EHLO client.test')).toContain('STARTTLS')
  const first = await secure()
  expect(namesOf(first.socket)).toBe('DNS:mx.ours.test')
  await first.client.commands('EHLO client.test', 'MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')

  certificates.replace(root.issue(['api.ours.test']), pairs[1])
  const second = await secure()
  expect(namesOf(second.socket)).toBe('DNS:other.test, DNS:mx.ours.test')
  expect(await first.client.command('x\r\n.')).toStartWith('250 2.0.0 ')
  for (const { client } of [first, second, { client: early }]) client.hangUp()
})

test('sends the whole chain over TLS 1.2 and 1.3, and refuses older versions', async () => {
  certificates.replace(pairs[0])
  const runClient = (...options: string[]) => runTlsClient(server.port, '-starttls', 'smtp', ...options)
  const modern = await runClient('-tls1_3')
  expect(modern.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  expect(modern).toContain('New, TLSv1.3')
  expect(await runClient('-tls1_2')).toContain('New, TLSv1.2')
  for (const old of ['-tls1_1', '-tls1'])
    expect(await runClient(old, '-cipher', 'ALL:@SECLEVEL=0')).toContain('Cipher is (NONE)')
})
