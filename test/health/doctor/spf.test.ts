import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { DnsZoneFile } from '../../harness/dns.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

let doctor: DoctorFixtures
beforeAll(async () => {
  doctor = await openDoctorFixtures()
})
afterAll(() => doctor.close())

function serveZone(zone: DnsZoneFile): void {
  for (const name of Object.keys(doctor.dns.zone)) delete doctor.dns.zone[name]
  Object.assign(doctor.dns.zone, zone)
}

const smarthost = { MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: 'smtp://relay.example:587' }
const txt = (...TXT: readonly string[]) => ({ TXT })

test.each([
  ['has no SPF record', {}, 'error', 'has no SPF record'],
  ['has other texts only', txt('hello'), 'error', 'has no SPF record'],
  ['has several', txt('v=spf1 -all', 'v=spf1 mx -all'), 'error', 'permanent error'],
  ['allows everyone', txt('v=spf1 +all'), 'error', 'allows everyone'],
  ['needs too many look-ups', txt(`v=spf1 ${'mx:other.example '.repeat(10)}-all`), 'error', 'more than 10'],
  ['includes what does not exist', txt('v=spf1 include:gone.example -all'), 'error', 'permanent error'],
  ['fails', { behaviour: { rcode: 'SERVFAIL' } }, 'skipped', 'could not be looked up'],
  ['is right', txt('v=spf1 ip4:192.0.2.0/24 -all'), 'ok', 'can include'],
] as const)('the record that all domains include: %s', async (words, node, level, seen) => {
  const name = `${words.replaceAll(' ', '-')}.relay.example`
  serveZone({
    [name]: node,
    'other.example': { MX: ['10 mx.other.example'] },
    'mx.other.example': { A: ['192.0.2.3'] },
  })
  const found = await doctor.run('spf_include', { ...smarthost, MAILROOM_SPF_INCLUDE: name })
  expect(found).toMatchObject({ level, seen: expect.stringContaining(seen) })
})

test('a relay elsewhere without MAILROOM_SPF_INCLUDE is a note, and none of our own', async () => {
  const at = (url: string) => doctor.run('spf_include', { ...smarthost, MAILROOM_SMARTHOST_URL: url })
  expect(await at('smtp://relay.example:587')).toMatchObject({
    level: 'note',
    seen: expect.stringContaining('relay.example'),
    todo: expect.stringContaining('MAILROOM_SPF_INCLUDE'),
  })
  for (const url of ['smtp://127.0.0.1:25', 'smtp://localhost', 'smtp://mail.ours.test:587'])
    expect(await at(url)).toMatchObject({ level: 'skipped' })
  expect(await doctor.run('spf_include')).toMatchObject({ level: 'skipped' })
})

test.each([
  ['none', ['hello'], 'warning', 'has no SPF record'],
  ['another', ['v=spf1 -all'], 'warning', 'does not cover our mail'],
  ['several', ['v=spf1 a -all', 'v=spf1 mx -all'], 'warning', '2 SPF records'],
  ['one of the host', ['v=spf1 a -all'], 'ok', 'covers our mail'],
  ['one by address', ['v=spf1 ip4:192.0.2.10 -all'], 'ok', 'covers our mail'],
] as const)('the SPF record of our own name, to which bounces come: %s', async (_, values, level, seen) => {
  serveZone({ 'mail.ours.test': { A: ['192.0.2.10'], TXT: [...values], ttl: 0 } })
  const found = await doctor.run('own_spf', smarthost)
  expect(found).toMatchObject({ level, seen: expect.stringContaining(seen) })
  if (level === 'warning') expect('todo' in found && found.todo).toContain('v=spf1 a:mail.ours.test ~all')
  expect(await doctor.run('own_spf', { ...smarthost, MAILROOM_SMARTHOST_PRESET: 'sendgrid' })).toMatchObject({
    level: 'skipped',
  })
})
