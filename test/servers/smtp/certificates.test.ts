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
let door: TestSmtpServer

beforeAll(async () => {
  root = createTestAuthority()
  pairs = [root.issue(['mx.ours.test']), root.issue(['other.test', 'mx.ours.test'])]
  door = await openTestSmtpServer({}, {}, undefined, certificates)
})
afterAll(async () => {
  await door.close()
  root.close()
})

const shown = (socket: TLSSocket) => socket.getPeerCertificate().subjectaltname
const secure = async () => {
  const client = await SmtpClient.ready(door.port)
  expect(await client.command('STARTTLS')).toStartWith('220 ')
  return { client, socket: await client.upgrade() }
}

test('STARTTLS is offered from the first certificate on; later ones are for those who come later', async () => {
  const early = await SmtpClient.ready(door.port)
  expect(await early.command('EHLO client.test')).not.toContain('STARTTLS')
  expect(await early.command('STARTTLS')).toStartWith('5')

  certificates.replace(pairs[0])
  expect(await early.command('EHLO client.test')).toContain('STARTTLS')
  const first = await secure()
  expect(shown(first.socket)).toBe('DNS:mx.ours.test')
  await first.client.commands('EHLO client.test', 'MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')

  certificates.replace(root.issue(['api.ours.test']), pairs[1])
  const second = await secure()
  expect(shown(second.socket)).toBe('DNS:other.test, DNS:mx.ours.test')
  expect(await first.client.command('x\r\n.')).toStartWith('250 2.0.0 ')
  for (const { client } of [first, second, { client: early }]) client.hangUp()
})

test('shows the whole chain, to TLS 1.2 and 1.3 and to nothing older', async () => {
  certificates.replace(pairs[0])
  const ask = (...options: string[]) => runTlsClient(door.port, '-starttls', 'smtp', ...options)
  const modern = await ask('-tls1_3')
  expect(modern.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  expect(modern).toContain('New, TLSv1.3')
  expect(await ask('-tls1_2')).toContain('New, TLSv1.2')
  for (const old of ['-tls1_1', '-tls1'])
    expect(await ask(old, '-cipher', 'ALL:@SECLEVEL=0')).toContain('Cipher is (NONE)')
})
