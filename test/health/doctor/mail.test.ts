import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import { setPolicy } from '../../../src/domains/mta-sts/mta-sts.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

let doctor: DoctorFixtures
let inbox: TestInbox
let us: ReceivingDomain
let server: ScriptedRelay

beforeAll(async () => {
  doctor = await openDoctorFixtures({ 'mail.ours.test': { A: ['127.0.0.1'] } })
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  server = await startScriptedRelay()
})
afterAll(async () => {
  await server.close()
  await inbox.close()
  await doctor.close()
})

const portOf = (url: string) => Number(new URL(url).port)

/** Mail that came from these addresses, and nothing else. */
async function mailFrom(...addresses: readonly string[]): Promise<void> {
  await inbox.server.database.db.deleteFrom('attachments').execute()
  await inbox.server.database.db.deleteFrom('messages').execute()
  for (const [i, remoteIp] of addresses.entries())
    await inbox.deliver(messageOf([`Subject: ${i}`]), `hello@${us.domain}`, { remoteIp })
}

const runCheck = (name: string, settings = {}) => doctor.run(name, settings, { db: inbox.server.database.db })

test('port 25 of our public address passes when it greets with our host name', async () => {
  const reach = () => doctor.run('port_25', {}, { publicSmtpPort: portOf(server.url) })
  server.setScript({ banner: '220 mail.ours.test ESMTP' })
  expect(await reach()).toMatchObject({ level: 'ok', seen: expect.stringContaining('greets as mail.ours.test') })
  server.setScript({ banner: '220 box.provider.example ESMTP Postfix' })
  expect(await reach()).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('box.provider.example'),
    todo: expect.stringContaining('postfix'),
  })
  server.setScript({ banner: '554 go away' })
  expect(await reach()).toMatchObject({ level: 'warning', seen: expect.stringContaining('554 go away') })
})

test('mail submission passes with STARTTLS, and on this machine alone without it', async () => {
  const check = (settings = {}) => doctor.run('submission', settings)
  const listen = { MAILROOM_SUBMISSION_LISTEN: `127.0.0.1:${portOf(server.url)}` }
  expect(await check()).toMatchObject({ level: 'skipped', seen: expect.stringContaining('MAILROOM_SUBMISSION_LISTEN') })
  server.setScript({ ehlo: '250-mail.ours.test\r\n250 STARTTLS' })
  expect(await check(listen)).toMatchObject({ level: 'ok', seen: expect.stringContaining('offers STARTTLS') })
  server.setScript({ ehlo: '250-mail.ours.test\r\n250 AUTH PLAIN LOGIN' })
  expect(await check(listen)).toMatchObject({ level: 'ok', seen: expect.stringContaining('without TLS') })
  server.setScript({ ehlo: '250 box.example' })
  expect(await check(listen)).toMatchObject({ level: 'error', seen: expect.stringContaining('another server') })
  server.setScript({ banner: '421 4.7.0 There is no TLS certificate yet, try again later' })
  expect(await check(listen)).toMatchObject({ level: 'warning', todo: expect.stringContaining('MAILROOM_TLS_CERT') })
  server.setScript({})
  expect(await check({ MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:1' })).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('ECONNREFUSED'),
  })
  expect(await check({ MAILROOM_SUBMISSIONS_LISTEN: '0.0.0.0:465' })).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('turns all connections away'),
  })
})

test('a port 25 that cannot be reached is a warning, and only a note while mail comes from public addresses', async () => {
  const reach = () => doctor.run('port_25', {}, { db: inbox.server.database.db, publicSmtpPort: 1 })
  await mailFrom('10.1.2.3')
  expect(await reach()).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('ECONNREFUSED'),
    todo: expect.stringContaining('firewall'),
  })
  await mailFrom('198.51.100.7')
  expect(await reach()).toMatchObject({ level: 'note', todo: expect.stringContaining('hairpin') })
  const later = { now: () => plusMs(systemClock.now(), 8 * 86_400_000) }
  const deps = { db: inbox.server.database.db, publicSmtpPort: 1, clock: later }
  expect((await doctor.run('port_25', {}, deps)).level).toBe('warning')
})

test('mail that all comes from a gateway of Docker is an error; from many, or too little of it, is not', async () => {
  await mailFrom()
  expect((await runCheck('client_addresses')).level).toBe('skipped')
  await mailFrom('198.51.100.7')
  expect((await runCheck('client_addresses')).level).toBe('ok')
  await mailFrom('172.18.0.1')
  expect(await runCheck('client_addresses')).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('172.18.0.1'),
  })
  await mailFrom(...Array.from({ length: 6 }, () => '172.18.0.1'))
  expect(await runCheck('client_addresses')).toMatchObject({
    level: 'error',
    seen: expect.stringMatching(/all mail of the last week \(6\).*gateway of Docker.*SPF/),
    todo: expect.stringContaining('docker/README.md'),
  })
  expect(await runCheck('client_addresses', { MAILROOM_SMTP_PROXIES: '10.0.0.0/8' })).toMatchObject({
    level: 'error',
    todo: expect.stringContaining('PROXY protocol'),
  })
  await mailFrom(...Array.from({ length: 5 }, () => '::ffff:10.9.8.7'))
  expect(await runCheck('client_addresses')).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('10.9.8.7'),
  })
  await mailFrom(...Array.from({ length: 6 }, () => '172.18.0.1'), '198.51.100.7')
  expect((await runCheck('client_addresses')).level).toBe('ok')
})

test('a relay that does not answer, offers no STARTTLS or refuses the login is reported with the cause', async () => {
  const relays = (url: string) => ({ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: url })
  const login = (url: string, ...troubles: readonly (string | null)[]) =>
    doctor.run('log_in', relays(url), {
      relays: troubles.map((trouble, i) => ({ name: `relay${i}.test`, findProblem: async () => trouble })),
    })
  expect(await login(server.url, 'starttls: no TLS', null)).toMatchObject({ level: 'warning' })
  expect(await login(server.url, 'starttls: no TLS')).toMatchObject({
    level: 'error',
    todo: expect.stringContaining('smtps://'),
  })
  expect(await doctor.run('log_in')).toMatchObject({ level: 'warning', seen: expect.stringContaining('sandbox') })

  server.setScript({})
  expect(await doctor.run('encryption', relays(server.url))).toMatchObject({
    level: 'ok',
    seen: expect.stringContaining('this machine'),
  })
  const elsewhere = server.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')
  expect(await doctor.run('encryption', relays(elsewhere))).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('unencrypted'),
  })
  server.setScript({ ehlo: '250-relay.test\r\n250 STARTTLS' })
  expect((await doctor.run('encryption', relays(elsewhere))).level).toBe('ok')
  expect(server.commands.some(command => /^\d+ (MAIL|RCPT|DATA)/i.test(command))).toBe(false)
})

test('an email that has been due for long is reported', async () => {
  const { db } = inbox.server.database
  expect((await runCheck('queue')).level).toBe('ok')
  const { json } = await inbox.server.call('POST', '/v1/emails', {
    json: { from: `hello@${us.domain}`, to: 'you@friend.test', subject: 'x', text: 'x' },
  })
  expect(json.status).toBe('queued')
  await db
    .updateTable('outbox')
    .set({ due_at: plusMs(systemClock.now(), -3_600_000) })
    .execute()
  expect(await runCheck('queue')).toMatchObject({ level: 'error', seen: expect.stringContaining('60 minutes') })
})

test('the secret key file is found, with the advice to keep a copy', async () => {
  expect((await doctor.run('secret_key')).level).toBe('skipped')
  await Bun.write(join(doctor.varFolder, 'secret.key'), 'x')
  expect(await doctor.run('secret_key')).toMatchObject({ level: 'ok', seen: expect.stringContaining('copy') })
})

test('MTA-STS records that are not published, or belong to an earlier policy, are named', async () => {
  const { db } = inbox.server.database
  const { dns } = doctor
  const { domain } = us
  expect((await runCheck('mta_sts')).level).toBe('skipped')
  const policy = await setPolicy({ db, clock: systemClock }, domain, 'enforce')
  expect(await runCheck('mta_sts')).toMatchObject({
    level: 'warning',
    seen: expect.stringMatching(/mta-sts\..* has no address; _mta-sts\..* has no TXT record/),
    todo: expect.stringContaining(`./mailroom domain mta-sts ${domain} enforce`),
  })
  dns.zone[`mta-sts.${domain}`] = { A: ['192.0.2.1'] }
  dns.zone[`_mta-sts.${domain}`] = { TXT: [`v=STSv1; id=${policy.policy_id}`] }
  expect(await runCheck('mta_sts')).toMatchObject({ level: 'ok', seen: `${domain} (enforce)` })
  await setPolicy({ db, clock: systemClock }, domain, 'testing')
  expect(await runCheck('mta_sts')).toMatchObject({
    level: 'note',
    seen: expect.stringContaining(`_mta-sts.${domain}`),
  })
})

test('links in emails that are not https are reported', async () => {
  expect(await doctor.run('public_url')).toMatchObject({ level: 'warning', todo: expect.stringContaining('https') })
  expect((await doctor.run('public_url', { MAILROOM_PUBLIC_URL: 'https://mail.ours.test' })).level).toBe('ok')
})
