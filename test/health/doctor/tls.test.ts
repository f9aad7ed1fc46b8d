import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dayMs, plusMs, systemClock } from '../../../src/base/clock.ts'
import { newUser } from '../../accounts/people.ts'
import {
  type CertificatePair,
  createTestAuthority,
  selfSigned,
  type TestAuthority,
} from '../../harness/certificates.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

let doctor: DoctorFixtures
let root: TestAuthority
const folder = mkdtempSync(join(tmpdir(), 'mailroom-doctor-tls-'))

beforeAll(async () => {
  doctor = await openDoctorFixtures()
  root = createTestAuthority()
})
afterAll(async () => {
  root.close()
  rmSync(folder, { recursive: true, force: true })
  await doctor.close()
})

function filesOf({ chain, key }: CertificatePair) {
  const [certFile, keyFile] = [join(folder, 'chain.pem'), join(folder, 'key.pem')]
  writeFileSync(certFile, chain)
  writeFileSync(keyFile, key)
  return { MAILROOM_TLS_CERT: certFile, MAILROOM_TLS_KEY: keyFile }
}

const checkCertificate = (pair: CertificatePair, afterDays = 0) =>
  doctor.run('certificate', filesOf(pair), { clock: { now: () => plusMs(systemClock.now(), afterDays * dayMs) } })

test('a missing certificate is reported, since STARTTLS is not offered', async () => {
  expect(await doctor.run('certificate')).toMatchObject({
    level: 'warning',
    todo: expect.stringContaining('MAILROOM_TLS_CERT'),
  })
})

test('a certificate is reported with its days left, and as a problem when these are few or over', async () => {
  const pair = root.issue(['mail.ours.test'], 90)
  expect(await checkCertificate(pair)).toMatchObject({ level: 'warning', seen: expect.stringMatching(/authority/) })
  expect((await checkCertificate(pair)).seen).not.toContain('left')
  expect(await checkCertificate(pair, 80)).toMatchObject({
    level: 'warning',
    seen: expect.stringMatching(/the certificate has 9 days left/),
    todo: expect.stringContaining('certbot renew'),
  })
  expect(await checkCertificate(pair, 91)).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('expired at'),
  })
})

test('a certificate for another name, a self-signed one, and one with another key are reported', async () => {
  expect(await checkCertificate(root.issue(['other.test'], 90))).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('it is for other.test'),
    todo: expect.stringContaining('mail.ours.test'),
  })
  expect(await checkCertificate(selfSigned(['mail.ours.test']))).toMatchObject({
    seen: expect.stringContaining('self-signed'),
  })
  const mixed = { chain: root.issue(['mail.ours.test']).chain, key: root.issue(['mail.ours.test']).key }
  expect(await checkCertificate(mixed)).toMatchObject({ level: 'error', seen: expect.stringContaining('private key') })
  const gone = { MAILROOM_TLS_CERT: '/nonexistent/chain.pem', MAILROOM_TLS_KEY: '/nonexistent/key.pem' }
  expect(await doctor.run('certificate', gone)).toMatchObject({
    level: 'error',
    todo: expect.stringContaining('let the account that runs Mailroom read them'),
  })
})

test('a certificate that the authority has not issued yet is reported', async () => {
  const acme = { MAILROOM_ACME_DIRECTORY: 'https://acme.example/directory', MAILROOM_ACME_ACCEPT_TERMS: 'true' }
  expect(await doctor.run('certificate', acme)).toMatchObject({
    level: 'warning',
    todo: expect.stringContaining('port 80'),
  })
})

test('once people have accounts, an address of the dashboard without https is a warning', async () => {
  const relay = { MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: 'smtp://127.0.0.1:1' }
  const check = (settings: Readonly<Record<string, string>>) => doctor.run('dashboard', settings)
  const http = { ...relay, MAILROOM_PUBLIC_URL: 'http://mail.ours.test' }
  expect(await check(http)).toMatchObject({ level: 'skipped' })
  await newUser(doctor.database.db, systemClock)
  expect(await check(http)).toMatchObject({
    level: 'warning',
    seen: 'MAILROOM_PUBLIC_URL is http://mail.ours.test: nobody can sign in to the dashboard from another machine',
    todo: expect.stringContaining('HTTPS for the dashboard'),
  })
  expect(await check(relay)).toMatchObject({ level: 'warning', seen: expect.stringContaining('is not set') })
  for (const address of ['https://192.0.2.1', 'https://[2001:db8::1]:8443'])
    expect(await check({ ...relay, MAILROOM_PUBLIC_URL: address })).toMatchObject({
      level: 'warning',
      seen: expect.stringContaining('no passkeys for an IP address'),
    })
  expect(await check({ ...relay, MAILROOM_PUBLIC_URL: 'https://mail.ours.test/' })).toMatchObject({
    level: 'ok',
    seen: 'the dashboard is at https://mail.ours.test/app',
  })
  // A trial on this machine alone.
  expect(await check({})).toMatchObject({ level: 'ok', seen: 'the dashboard is at http://localhost:8080/app' })
  expect((await check({ ...http, MAILROOM_ROLES: 'smtp' })).level).toBe('skipped')
})
