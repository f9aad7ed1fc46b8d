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
const started = Promise.withResolvers<void>()
const released = Promise.withResolvers<void>()
const app = new Elysia()
  .get('/slow', async () => {
    started.resolve()
    await released.promise
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
  await listener.close(Promise.resolve())
  root.close()
})

/** The names of the certificate that a client gets for this server name. The client trusts only our root. */
function namesFor(servername: string): Promise<string | undefined> {
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

test('listens from the first certificate on, and uses the certificate of each name', async () => {
  await expect(ask('/')).rejects.toThrow()
  certificates.replace(api, policies)
  expect(await ask('/')).toBe('here')
  expect(await namesFor('api.test')).toBe('DNS:api.test')
  expect(await namesFor('mta-sts.b.test')).toBe('DNS:mta-sts.a.test, DNS:mta-sts.b.test')
  // Another name gets the first certificate, which is not valid for it.
  await expect(namesFor('other.test')).rejects.toThrow()
})

test('uses a new certificate at once, and finishes a request under way', async () => {
  certificates.replace(api)
  const underWay = ask('/slow')
  await started.promise
  const newer = root.issue(['api.test', 'more.test'])
  certificates.replace(newer, policies)
  await until(async () => (await namesFor('api.test')) === 'DNS:api.test, DNS:more.test')
  for (let i = 0; i < 20; i++) expect(await namesFor('api.test')).toBe('DNS:api.test, DNS:more.test')
  released.resolve()
  expect(await underWay).toBe('at last')
})

test('sends the whole chain over TLS 1.2 and 1.3, and refuses older versions', async () => {
  const modern = await runTlsClient(listener.port, '-servername', 'api.test', '-tls1_3')
  expect(modern.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  expect(modern).toContain('New, TLSv1.3')
  expect(await runTlsClient(listener.port, '-tls1_2')).toContain('New, TLSv1.2')
  for (const old of ['-tls1_1', '-tls1'])
    expect(await runTlsClient(listener.port, old, '-cipher', 'ALL:@SECLEVEL=0')).toContain('Cipher is (NONE)')
})

test('does not share its port with another program', () => {
  const listen = { host: '127.0.0.1', port: listener.port }
  const open = () => openTlsListener({ listen, certificates, idleSeconds: 30, fetch: () => new Response(''), log })
  expect(open).toThrow('Failed to listen')
})
