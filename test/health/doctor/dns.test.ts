import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { type DnsNode, type DnsZoneFile, startDns } from '../../harness/dns.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

const known = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com', 'example.com']
const key = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(12)}`
const good: DnsZoneFile = {
  ...Object.fromEntries(known.map(name => [name, { MX: ['10 mx.example.net'], A: ['192.0.2.1'] }])),
  '20230601._domainkey.gmail.com': { TXT: [key] },
  '2.0.0.127.zen.spamhaus.org': { A: ['127.0.0.2', '127.0.0.10'] },
  'dnssec-failed.org': { behaviour: { rcode: 'SERVFAIL' } },
}
let doctor: DoctorFixtures

beforeAll(async () => {
  doctor = await openDoctorFixtures()
})
afterAll(() => doctor.close())
afterEach(() => serveZone({}))

/** Serves what a good resolver answers, except for these names. */
function serveZone(changes: DnsZoneFile): void {
  for (const name of Object.keys(doctor.dns.zone)) delete doctor.dns.zone[name]
  Object.assign(doctor.dns.zone, good, changes)
}

const forNames = (names: readonly string[], node: DnsNode): DnsZoneFile =>
  Object.fromEntries(names.map(name => [name, node]))

test('a good resolver passes all checks', async () => {
  serveZone({})
  // The time depends on the machine.
  expect((await doctor.run('resolver')).seen).toMatch(/^half of the lookups take (at most|longer)/)
  for (const name of ['long_answers', 'absent_names', 'block_lists', 'dnssec'])
    expect(await doctor.run(name)).toMatchObject({ name, level: 'ok' })
})

test('a resolver that answers nothing, not everything, or slowly is reported', async () => {
  serveZone(forNames(known, { behaviour: { rcode: 'REFUSED' } }))
  expect(await doctor.run('resolver')).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('REFUSED'),
    todo: expect.stringContaining('MAILROOM_RESOLVERS'),
  })
  serveZone(forNames(known.slice(0, 2), { behaviour: { rcode: 'SERVFAIL' } }))
  expect(await doctor.run('resolver')).toMatchObject({ level: 'warning', seen: expect.stringContaining('2 of 5') })
  serveZone(forNames(known, { MX: ['10 mx.example.net'], behaviour: { delayMs: 600 } }))
  expect(await doctor.run('resolver')).toMatchObject({
    level: 'warning',
    seen: expect.stringMatching(/longer than \d+ ms/),
    todo: expect.stringContaining('unbound'),
  })
})

test('missing or truncated long answers are reported, since DKIM needs them', async () => {
  serveZone({ '20230601._domainkey.gmail.com': { TXT: [key], behaviour: { truncated: true, silentOver: 'tcp' } } })
  expect(await doctor.run('long_answers')).toMatchObject({
    level: 'error',
    todo: expect.stringContaining('by TCP on port 53'),
  })
  serveZone({ '20230601._domainkey.gmail.com': { TXT: [key.slice(0, 255), key.slice(255)] } })
  expect(await doctor.run('long_answers')).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('cut short'),
  })
})

test('a resolver that invents addresses for names that do not exist is reported', async () => {
  const { dns } = doctor
  const inventing = new Proxy(dns.zone, {
    get: (zone, name) =>
      zone[String(name)] ?? (/^(www\.)?mailroom-/.test(String(name)) ? { A: ['192.0.2.99'] } : undefined),
  })
  const other = await startDns(inventing)
  const resolver = networkResolver({ servers: [other.endpoint], timeoutMs: 1000 })
  try {
    expect(await doctor.run('absent_names', {}, { resolver })).toMatchObject({
      level: 'error',
      todo: expect.stringContaining('Turn that off'),
    })
  } finally {
    await other.close()
  }
})

test('a resolver that block lists refuse, and one that does not validate DNSSEC, are notes', async () => {
  serveZone({ '2.0.0.127.zen.spamhaus.org': { A: ['127.255.255.254'] }, 'dnssec-failed.org': { A: ['192.0.2.7'] } })
  expect(await doctor.run('block_lists')).toMatchObject({ level: 'note', todo: expect.stringContaining('unbound') })
  expect(await doctor.run('dnssec')).toMatchObject({ level: 'note', todo: expect.stringContaining('validates') })
})

test('our host name must resolve to a public address', async () => {
  serveZone({ 'mail.ours.test': { A: ['192.0.2.10'] } })
  expect(await doctor.run('hostname')).toMatchObject({ level: 'ok', seen: 'mail.ours.test resolves to 192.0.2.10' })
  serveZone({ 'mail.ours.test': { A: ['10.0.0.4'] } })
  expect(await doctor.run('hostname')).toMatchObject({ level: 'error', seen: expect.stringContaining('10.0.0.4') })
  serveZone({})
  expect(await doctor.run('hostname')).toMatchObject({ level: 'error', todo: expect.stringContaining('A record') })
  for (const name of ['mailhost', '192.0.2.10', 'box.localdomain'])
    expect(await doctor.run('hostname', { MAILROOM_HOSTNAME: name })).toMatchObject({
      level: 'error',
      todo: expect.stringContaining('mail.example.com'),
    })
})

test('the PTR record of our address must be our host name', async () => {
  const ours = { 'mail.ours.test': { A: ['192.0.2.10'], AAAA: ['2001:db8::10'] } }
  const six = `0.1.${'0.'.repeat(22)}8.b.d.0.1.0.0.2.ip6.arpa`
  serveZone({ ...ours, '10.2.0.192.in-addr.arpa': { PTR: ['Mail.ours.test'] }, [six]: { PTR: ['mail.ours.test'] } })
  expect(await doctor.run('reverse_name')).toMatchObject({ level: 'ok' })
  serveZone({ ...ours, '10.2.0.192.in-addr.arpa': { PTR: ['host10.provider.example'] } })
  expect(await doctor.run('reverse_name')).toMatchObject({
    level: 'warning',
    seen: expect.stringMatching(/host10\.provider\.example.*2001:db8::10 has no PTR record/),
    todo: expect.stringContaining('set the PTR record of 192.0.2.10 to mail.ours.test'),
  })
})
