import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:tls'
import { Elysia } from 'elysia'
import pino from 'pino'
import { openTlsListener, type TlsListener } from '../../../src/servers/http/tls-listener.ts'
import {
  type CertificatePair,
  createTestAuthority,
  runTlsClient,
  type TestAuthority,
} from '../../harness/certificates.ts'
import { replaceableCertificates } from '../../harness/replaceable-certificates.ts'
import { until } from '../../harness/until.ts'

const log = pino({ level: 'silent' })
let root: TestAuthority
let api: CertificatePair
let policies: CertificatePair
const begun = Promise.withResolvers<void>()
const held = Promise.withResolvers<void>()
const app = new Elysia()
  .get('/held', async () => {
    begun.resolve()
    await held.promise
    return 'at last'
  })
  .get('/', 'here')

const certificates = replaceableCertificates()
let listener: TlsListener

beforeAll(() => {
  root = createTestAuthority()
  api = root.issue(['api.test'])
  policies = root.issue(['mta-sts.a.test', 'mta-sts.b.test'])
  listener = openTlsListener({
    listen: { host: '127.0.0.1', port: 0 },
    certificates,
    idleSeconds: 30,
    fetch: request => app.fetch(request),
    log,
  })
})
afterAll(async () => {
  await listener.close(1000)
  root.close()
})

/** The names of the certificate that a client is shown which trusts our root alone and asks for this name. */
function shownAt(servername: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: listener.port, servername, ca: root.root }, () => {
      resolve(socket.getPeerCertificate().subjectaltname)
      socket.end()
    })
    socket.on('error', reject)
  })
}

const ask = (path: string) =>
  fetch(`https://127.0.0.1:${listener.port}${path}`, { tls: { rejectUnauthorized: false } }).then(response =>
    response.text(),
  )

test('listens from the first certificate on, and shows each name its own', async () => {
  await expect(ask('/')).rejects.toThrow()
  certificates.replace(api, policies)
  expect(await ask('/')).toBe('here')
  expect(await shownAt('api.test')).toBe('DNS:api.test')
  expect(await shownAt('mta-sts.b.test')).toBe('DNS:mta-sts.a.test, DNS:mta-sts.b.test')
  // Another name is shown the first certificate, which is not for it.
  await expect(shownAt('other.test')).rejects.toThrow()
})

test('another certificate is shown at once, and a request under way comes to its end', async () => {
  certificates.replace(api)
  const underWay = ask('/held')
  await begun.promise
  const newer = root.issue(['api.test', 'more.test'])
  certificates.replace(newer, policies)
  await until(async () => (await shownAt('api.test')) === 'DNS:api.test, DNS:more.test')
  for (let i = 0; i < 20; i++) expect(await shownAt('api.test')).toBe('DNS:api.test, DNS:more.test')
  held.resolve()
  expect(await underWay).toBe('at last')
})

test('shows the whole chain, to TLS 1.2 and 1.3 and to nothing older', async () => {
  const modern = await runTlsClient(listener.port, '-servername', 'api.test', '-tls1_3')
  expect(modern.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  expect(modern).toContain('New, TLSv1.3')
  expect(await runTlsClient(listener.port, '-tls1_2')).toContain('New, TLSv1.2')
  for (const old of ['-tls1_1', '-tls1'])
    expect(await runTlsClient(listener.port, old, '-cipher', 'ALL:@SECLEVEL=0')).toContain('Cipher is (NONE)')
})

test('does not share its port with another program', () => {
  const taken = { host: '127.0.0.1', port: listener.port }
  const open = () =>
    openTlsListener({ listen: taken, certificates, idleSeconds: 30, fetch: () => new Response(''), log })
  expect(open).toThrow('Failed to listen')
})
