import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import pino from 'pino'
import { millisecondsOf } from '../../../src/base/clock.ts'
import { secretKeyBytes, secretsOf } from '../../../src/base/secrets/secrets.ts'
import { freePort } from '../../../src/cli/private/process.ts'
import { acmeCertificates, type CertificateName } from '../../../src/ports/certificates/acme/acme.ts'
import { acmeAuthority } from '../../../src/ports/certificates/acme/authority.ts'
import { sealCertificateKeys } from '../../../src/ports/certificates/acme/sealing.ts'
import { selectKeyAuthorization } from '../../../src/ports/certificates/acme/table.ts'
import type { Certificates } from '../../../src/ports/certificates/port.ts'
import { openAcmeChallengeServer } from '../../../src/servers/http/acme-challenge-server.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { startDns, type TestDns } from '../../harness/dns.ts'
import { type TestClock, testClock } from '../../harness/http-server.ts'
import { type Pebble, startPebble } from '../../harness/pebble.ts'
import { startRateLimitProxy } from '../../harness/rate-limit-proxy.ts'
import { testSecrets } from '../../harness/secrets.ts'
import { until } from '../../harness/until.ts'

const log = pino({ level: 'silent' })
const day = 86_400_000
let dns: TestDns
let pebble: Pebble
let database: FreshDatabase
let clock: TestClock
let challenges: { close(): Promise<void> }
let httpPort: number
const opened: Certificates[] = []

beforeAll(async () => {
  httpPort = freePort()
  dns = await startDns({ 'a.test': here, 'b.test': here, 'c.test': here })
  pebble = await startPebble({ dns: dns.endpoint, httpPort })
  database = await freshDatabase()
})
afterAll(async () => {
  await database.close()
  await pebble.stop()
  await dns.close()
})
beforeEach(() => {
  clock = testClock()
  challenges = openAcmeChallengeServer({
    listen: { host: '127.0.0.1', port: httpPort },
    findKeyAuthorization: token => selectKeyAuthorization(database.db, token),
    log,
  })
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map(certificates => certificates.stop()))
  await challenges.close()
  for (const table of ['certificates', 'acme_accounts'] as const) await database.db.deleteFrom(table).execute()
})

const here = { A: ['127.0.0.1'] }
const ours = (...names: string[]) => names.map(name => ({ name, isOurs: true }))

function open(
  names: readonly CertificateName[],
  more: Partial<Parameters<typeof acmeAuthority>[0]> = {},
  secrets = testSecrets,
): Certificates {
  const certificates = acmeCertificates({
    db: database.db,
    clock,
    log,
    secrets,
    listNames: async () => names,
    hasAddress: async name => dns.zone[name]?.A !== undefined,
    authority: acmeAuthority({
      directory: pebble.directory,
      email: undefined,
      caFile: pebble.caFile,
      pollIntervalMs: 50,
      ...more,
    }),
    intervalMs: 20,
  })
  opened.push(certificates)
  return certificates
}

const row = (name: string) =>
  database.db.selectFrom('certificates').selectAll().where('name', '=', name).executeTakeFirstOrThrow()
const firstOf = (certificates: Certificates) => certificates.current()[0]?.chain

test('gets a certificate for each name, with the chain to the authority’s root, and stores the keys sealed', async () => {
  const certificates = open(ours('a.test', 'b.test'))
  await until(() => certificates.current().length === 2)
  expect(certificates.current().map(certificate => certificate.names)).toEqual([['a.test'], ['b.test']])
  const [certificate] = certificates.current()
  const [leaf, between] = (certificate?.chain.match(/-----BEGIN[\s\S]+?END CERTIFICATE-----/g) ?? []).map(
    pem => new X509Certificate(pem),
  )
  expect(leaf?.verify(between?.publicKey ?? raise())).toBe(true)
  expect(between?.verify(new X509Certificate(await pebble.issuingRoot()).publicKey)).toBe(true)
  expect(createPrivateKey(certificate?.privateKey ?? '').asymmetricKeyType).toBe('ec')

  const stored = JSON.stringify([
    await row('a.test'),
    await database.db.selectFrom('acme_accounts').selectAll().execute(),
  ])
  expect(stored).not.toContain('PRIVATE KEY')
  expect(await database.db.selectFrom('acme_challenges').selectAll().execute()).toEqual([])
  expect(certificates.states()).toEqual([
    { name: 'a.test', isOurs: true, notAfter: certificate?.notAfter ?? null, lastError: null },
    { name: 'b.test', isOurs: true, notAfter: expect.any(Date), lastError: null },
  ])
})

test('two processes order once for a name, and both present the certificate', async () => {
  const [one, two] = [open(ours('a.test', 'b.test')), open(ours('a.test', 'b.test'))]
  await until(() => one.current().length === 2 && two.current().length === 2)
  expect(one.current().map(certificate => certificate.chain)).toEqual(
    two.current().map(certificate => certificate.chain),
  )
  expect(await database.db.selectFrom('acme_accounts').selectAll().execute()).toHaveLength(1)
})

test('renews after two thirds of the validity', async () => {
  const certificates = open(ours('a.test'))
  await until(() => firstOf(certificates) !== undefined)
  const first = firstOf(certificates)
  const { not_before, not_after, next_attempt_at } = await row('a.test')
  const begin = millisecondsOf(not_before ?? raise())
  const lifeMs = millisecondsOf(not_after ?? raise()) - begin
  const part = (millisecondsOf(next_attempt_at) - begin) / lifeMs
  expect([part >= 0.666, part <= 0.688]).toEqual([true, true])
  clock.forward(lifeMs * 0.7)
  await until(() => firstOf(certificates) !== first)
  expect((await row('a.test')).failures).toBe(0)
})

test('a name that fails does not delay the others, is retried at growing intervals, and keeps its certificate', async () => {
  const certificates = open(ours('a.test', 'c.test'))
  await until(() => certificates.current().length === 2)
  const before = certificates.current().map(certificate => certificate.chain)
  delete dns.zone['a.test']
  clock.forward(5 * 365 * day)
  await until(async () => (await row('a.test')).failures === 1 && certificates.current()[1]?.chain !== before[1])
  expect(firstOf(certificates)).toBe(before[0])
  await until(() => certificates.states()[0]?.lastError?.includes('a.test'))
  const waitMs = async () => millisecondsOf((await row('a.test')).next_attempt_at) - millisecondsOf(clock.now())
  expect(await waitMs()).toBeLessThan(7 * 60_000)
  clock.forward(7 * 60_000)
  await until(async () => (await row('a.test')).failures === 2)
  expect(await waitMs()).toBeGreaterThan(9 * 60_000)
  dns.zone['a.test'] = here
  clock.forward(13 * 60_000)
  await until(() => firstOf(certificates) !== before[0])
  await until(() => certificates.states()[0]?.lastError === null)
})

test('an authority that rate limits us is asked again no sooner than it says', async () => {
  const proxy = startRateLimitProxy(pebble, '7200')
  const certificates = open(ours('a.test'), { directory: proxy.directory, caFile: proxy.caFile, email: 'ann@a.test' })
  try {
    await until(async () => (await row('a.test').catch(() => undefined))?.failures === 1)
    const { next_attempt_at, last_error } = await row('a.test')
    expect(last_error).toBe('too many of them')
    const waitMs = millisecondsOf(next_attempt_at) - millisecondsOf(clock.now())
    expect([waitMs > 7_100_000, waitMs < 9_100_000]).toEqual([true, true])
    proxy.relent()
    clock.forward(9_100_000)
    await until(() => certificates.current().length === 1)
  } finally {
    await certificates.stop()
    await proxy.stop()
  }
})

test('no certificate is ordered for the name of a domain before DNS has an address for it', async () => {
  const certificates = open([{ name: 'd.test', isOurs: false }])
  await until(() => certificates.states()[0]?.lastError === 'DNS has no address for it yet')
  expect((await row('d.test')).failures).toBe(0)
  dns.zone['d.test'] = here
  clock.forward(11 * 60_000)
  await until(() => certificates.current().length === 1)
  delete dns.zone['d.test']
})

test('a key that an older secret key sealed is opened, and sealed with the newer one', async () => {
  const [older, newer] = [randomBytes(secretKeyBytes), randomBytes(secretKeyBytes)]
  const before = open(ours('a.test'), {}, secretsOf([older]))
  await until(() => firstOf(before) !== undefined)
  await before.stop()
  await sealCertificateKeys(database.db, secretsOf([newer, older]))
  const after = open(ours('a.test'), {}, secretsOf([newer]))
  await until(() => firstOf(after) !== undefined)
  expect(firstOf(after)).toBe(firstOf(before))
  clock.forward(5 * 365 * day)
  await until(() => firstOf(after) !== firstOf(before))
})

function raise(): never {
  throw new Error('absent')
}
