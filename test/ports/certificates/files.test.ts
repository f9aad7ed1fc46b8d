import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { ConfigError } from '../../../src/base/config/config.ts'
import { fileCertificates } from '../../../src/ports/certificates/files.ts'
import type { Certificates } from '../../../src/ports/certificates/port.ts'
import { type CertificatePair, createTestAuthority, type TestAuthority } from '../../harness/certificates.ts'
import { until } from '../../harness/until.ts'

let root: TestAuthority
let folder: string
let pairs: readonly [CertificatePair, CertificatePair]
const log = pino({ level: 'silent' })

beforeAll(() => {
  root = createTestAuthority()
  pairs = [root.issue(['one.test']), root.issue(['two.test', '*.two.test'])]
})
afterAll(() => root.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-files-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const certFile = () => join(folder, 'live/cert.pem')
const keyFile = () => join(folder, 'live/key.pem')

/** A version of both files in a folder of its own, as certbot and Kubernetes make them. */
function write(version: string, chain: string, key: string): void {
  mkdirSync(join(folder, version))
  writeFileSync(join(folder, version, 'cert.pem'), chain)
  writeFileSync(join(folder, version, 'key.pem'), key)
}

/** Points the link at this version, atomically. */
function point(version: string): void {
  symlinkSync(version, join(folder, 'next'))
  renameSync(join(folder, 'next'), join(folder, 'live'))
}

async function watching(work: (certificates: Certificates, changes: () => number) => Promise<void>): Promise<void> {
  const certificates = fileCertificates({ certFile: certFile(), keyFile: keyFile(), log, intervalMs: 10 })
  let changes = 0
  certificates.onChange(() => {
    changes++
  })
  try {
    await work(certificates, () => changes)
  } finally {
    await certificates.stop()
  }
}

test('loads another pair when the link points to it', async () => {
  const [one, two] = pairs
  write('1', one.chain, one.key)
  write('2', two.chain, two.key)
  point('1')
  await watching(async (certificates, changes) => {
    expect(certificates.current()[0]).toMatchObject({ names: ['one.test'], chain: one.chain, privateKey: one.key })
    point('2')
    await until(() => changes() === 1)
    expect(certificates.current()[0]).toMatchObject({ names: ['two.test', '*.two.test'], chain: two.chain })
    expect(certificates.states()[0]).toMatchObject({ name: 'two.test', isOurs: true, lastError: null })
  })
})

test('keeps the last good pair while the files hold no better one, reports why, and loads the next good one', async () => {
  const [one, two] = pairs
  const expired = root.issue(['one.test'], 0)
  write('good', one.chain, one.key)
  write('another key', one.chain, two.key)
  write('half', two.chain.slice(0, 300), two.key)
  write('no key', two.chain, 'none')
  write('expired', expired.chain, expired.key)
  write('empty', '', '')
  write('better', two.chain, two.key)
  point('good')
  await watching(async (certificates, changes) => {
    const faults = {
      'another key': 'the private key is not that of the certificate',
      half: 'there is no certificate in it',
      'no key': 'the private key cannot be read',
      expired: /^the certificate expired at 20/,
      empty: 'there is no certificate in it',
      absent: /ENOENT/,
    }
    for (const [version, why] of Object.entries(faults)) {
      point(version)
      await until(() => certificates.states()[0]?.lastError?.match(why))
      expect(certificates.current()[0]?.chain).toBe(one.chain)
    }
    expect(changes()).toBe(0)
    point('good')
    await until(() => certificates.states()[0]?.lastError === null)
    expect(changes()).toBe(0)
    point('better')
    await until(() => changes() === 1)
    expect(certificates.current()[0]?.chain).toBe(two.chain)
  })
})

test('accepts an expired pair at the start, and replaces it by any good one', async () => {
  const [one] = pairs
  const expired = root.issue(['old.test'], 0)
  write('expired', expired.chain, expired.key)
  write('good', one.chain, one.key)
  point('expired')
  await watching(async certificates => {
    expect(certificates.current()[0]?.names).toEqual(['old.test'])
    point('good')
    await until(() => certificates.current()[0]?.names[0] === 'one.test')
  })
})

test('files without a valid pair stop the start with a sentence', () => {
  const [one, two] = pairs
  const open = () => fileCertificates({ certFile: certFile(), keyFile: keyFile(), log })
  expect(open).toThrow(ConfigError)
  write('1', one.chain, two.key)
  point('1')
  expect(open).toThrow(
    `MAILROOM_TLS_CERT is "${certFile()}" and MAILROOM_TLS_KEY is "${keyFile()}": the private key is not that of the certificate.`,
  )
  unlinkSync(join(folder, 'live'))
})
