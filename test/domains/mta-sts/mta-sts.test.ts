import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { newId } from '../../../src/base/ids.ts'
import { domainCommand } from '../../../src/cli/domain.ts'
import { policyHosts } from '../../../src/domains/mta-sts/mta-sts.ts'
import { mtaStsRoutes } from '../../../src/domains/mta-sts/routes.ts'
import { deleteDomain } from '../../../src/domains/table.ts'
import {
  type CertificatePair,
  createTestAuthority,
  selfSigned,
  type TestAuthority,
} from '../../harness/certificates.ts'
import { testClock } from '../../harness/http-server.ts'
import { createTestOrganization, type DomainsFixture, hostname, openDomainsFixture } from '../fixtures.ts'

let fixture: DomainsFixture
let root: TestAuthority
let folder: string
let server: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  fixture = await openDomainsFixture()
  root = createTestAuthority()
  folder = mkdtempSync(join(tmpdir(), 'mailroom-sts-'))
  const app = new Elysia().use(mtaStsRoutes({ db: fixture.deps.db, mx: hostname }))
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: request => app.fetch(request) })
})
afterAll(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
  root.close()
  await fixture.close()
})

/** A domain that receives mail here, or waits for its identity. */
async function receivingDomain(domain: string, identity_verified: 0 | 1 = 1) {
  const { db, clock } = fixture.deps
  const { tenant, brandId } = await createTestOrganization(db)
  const organization_id = tenant.organizationId
  const now = clock.now()
  const [id, facts] = [newId('dom'), { organization_id, domain }]
  const sending = { status: 'pending', ownership_verified: 1, provider_error: null, last_checked_at: null } as const
  await db
    .insertInto('domains')
    .values({ id, brand_id: brandId, ...facts, ...sending, created_at: now })
    .execute()
  const claim = { identity_verified, identity_error: null, mx_verified: 0, claimed_at: now, checked_at: null } as const
  await db
    .insertInto('receiving_claims')
    .values({ domain_id: id, ...facts, ...claim })
    .execute()
  return id
}

/** Runs the command; rejects when it fails. */
function mtaSts(domain: string, mode: string, pair?: CertificatePair) {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  if (pair) {
    writeFileSync(cert, pair.chain)
    writeFileSync(key, pair.key)
  }
  const env = {
    MAILROOM_DATABASE_URL: fixture.databaseUrl,
    MAILROOM_HOSTNAME: hostname,
    MAILROOM_PUBLIC_URL: 'https://api.mailroom.example',
    MAILROOM_HTTPS_LISTEN: '127.0.0.1:0',
    ...(pair && { MAILROOM_TLS_CERT: cert, MAILROOM_TLS_KEY: key }),
  }
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every kind
  return domainCommand.run(['mta-sts', domain, mode], env).then(told => told?.json as any)
}

function policyAt(host: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/.well-known/mta-sts.txt`, { headers: { host } })
}

test('a policy that is set for a domain is served at its host, and its records are listed', async () => {
  await receivingDomain('a.example')
  expect((await policyAt('mta-sts.a.example')).status).toBe(404)
  const created = await mtaSts('a.example', 'testing', root.issue([hostname]))
  expect([created.domain, created.mode]).toEqual(['a.example', 'testing'])
  expect(created.id).toMatch(/^[0-9a-z]{1,32}$/)
  expect(created.dns_records).toEqual([
    { type: 'CNAME', name: 'mta-sts.a.example', value: 'api.mailroom.example', required: true },
    { type: 'TXT', name: '_mta-sts.a.example', value: `v=STSv1; id=${created.id};`, required: true },
    {
      type: 'TXT',
      name: '_smtp._tls.a.example',
      value: 'v=TLSRPTv1; rua=mailto:postmaster@a.example',
      required: false,
    },
  ])
  expect(created.warnings).toEqual([expect.stringContaining('which most senders do not trust')])

  for (const host of ['mta-sts.a.example', 'MTA-STS.A.example', 'mta-sts.a.example:443', 'mta-sts.a.example.']) {
    const response = await policyAt(host)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain'])
    expect(await response.text()).toBe(`version: STSv1\r\nmode: testing\r\nmx: ${hostname}\r\nmax_age: 86400\r\n`)
  }
  for (const host of ['a.example', 'mta-sts.b.example', 'mta-sts.', 'mta-sts.a.example.evil.example'])
    expect((await policyAt(host)).status).toBe(404)
})

test('a changed policy has a new id, an unchanged one keeps its id', async () => {
  await receivingDomain('id.example')
  const pair = root.issue([hostname])
  const idOf = async (mode: string) => (await mtaSts('id.example', mode, pair)).id
  const first = await idOf('testing')
  expect(await idOf('testing')).toBe(first)
  const second = await idOf('enforce')
  expect(second).not.toBe(first)
  expect(await (await policyAt('mta-sts.id.example')).text()).toContain('mode: enforce\r\n')
})

test('mode enforce requires a certificate that senders accept', async () => {
  await receivingDomain('strict.example')
  const faults: readonly (readonly [CertificatePair | undefined, string])[] = [
    [undefined, 'there is none'],
    [selfSigned([hostname]), 'it is self-signed'],
    [root.issue(['other.example']), 'it is for other.example'],
    [root.issue([hostname], 0), 'it expired at'],
  ]
  for (const [pair, why] of faults) {
    await expect(mtaSts('strict.example', 'enforce', pair)).rejects.toThrow(why)
    expect((await policyAt('mta-sts.strict.example')).status).toBe(404)
    const tried = await mtaSts('strict.example', 'testing', pair)
    expect(tried.warnings[0]).toContain(why)
    await fixture.deps.db.deleteFrom('mta_sts_policies').where('domain', '=', 'strict.example').execute()
  }
})

test('mode none is served for as long as senders may cache the earlier policy', async () => {
  const id = await receivingDomain('off.example')
  await expect(mtaSts('off.example', 'off')).rejects.toThrow('off.example has no policy')
  await mtaSts('off.example', 'testing')
  await mtaSts('off.example', 'off')
  expect(await (await policyAt('mta-sts.off.example')).text()).toContain('mode: none\r\n')
  const clock = testClock()
  const isHost = async () => (await policyHosts({ db: fixture.deps.db, clock })).includes('mta-sts.off.example')
  expect(await isHost()).toBe(true)
  clock.forward(15 * 86_400_000)
  expect(await isHost()).toBe(false)
  await deleteDomain(fixture.deps.db, id)
  expect((await policyAt('mta-sts.off.example')).status).toBe(404)
})

test('a domain that does not receive mail here gets no policy', async () => {
  await receivingDomain('soon.example', 0)
  for (const domain of ['soon.example', 'unknown.example'])
    await expect(mtaSts(domain, 'testing')).rejects.toThrow(`${domain} does not receive its mail here.`)
  await expect(mtaSts('soon.example', 'sometimes')).rejects.toThrow('none of testing, enforce, off')
})
