import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type PeerCertificate } from 'node:tls'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/ids.ts'
import { freePort } from '../../src/cli/private/process.ts'
import { setPolicy } from '../../src/domains/mta-sts/mta-sts.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { type Pebble, startPebble } from '../harness/pebble.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { until } from '../harness/until.ts'

const [hostname, api, policyHost] = ['mail.demo.test', 'api.demo.test', 'mta-sts.demo.test']
const here = { A: ['127.0.0.1'] }
let dns: TestDns
let pebble: Pebble
let mailroom: Mailroom
let issuingRoot: string
let metrics: number
let https: number

beforeAll(async () => {
  const httpPort = freePort()
  dns = await startDns({ [hostname]: here, [api]: here, [policyHost]: here })
  pebble = await startPebble({ dns: dns.endpoint, httpPort })
  issuingRoot = await pebble.issuingRoot()
  metrics = freePort()
  https = freePort()
  mailroom = await startMailroom({
    MAILROOM_ACME_DIRECTORY: pebble.directory,
    MAILROOM_ACME_ACCEPT_TERMS: 'true',
    MAILROOM_ACME_CA: pebble.caFile,
    MAILROOM_ACME_LISTEN: `127.0.0.1:${httpPort}`,
    MAILROOM_HTTPS_LISTEN: `127.0.0.1:${https}`,
    MAILROOM_METRICS_LISTEN: `127.0.0.1:${metrics}`,
    MAILROOM_PUBLIC_URL: `https://${api}`,
  })
}, 60_000)
afterAll(async () => {
  await mailroom.stop()
  await pebble.stop()
  await dns.close()
})

/** The certificate for this name that a verifying client receives. */
function shownAt(servername: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: https, servername, ca: issuingRoot }, () => {
      resolve(socket.getPeerCertificate())
      socket.end()
    })
    socket.on('error', reject)
  })
}

const isShown = (name: string) =>
  shownAt(name).then(
    peerCertificate => peerCertificate.subjectaltname === `DNS:${name}`,
    () => false,
  )

test('serves without TLS until its first certificates, then with STARTTLS and HTTPS too', async () => {
  await until(() => isShown(api))
  await until(async () => {
    const client = await SmtpClient.ready(mailroom.smtp)
    if (!(await client.command('STARTTLS')).startsWith('220 ')) return client.hangUp()
    const socket = await client.upgrade()
    const shown = socket.getPeerCertificate().subjectaltname
    client.hangUp()
    return shown === `DNS:${hostname}`
  })

  const sent = await fetch(`https://127.0.0.1:${https}/v1/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${mailroom.key}`, 'content-type': 'application/json', host: api },
    body: JSON.stringify({ from: 'hello@demo.test', to: 'a@friend.test', subject: 'x', text: 'x'.repeat(300_000) }),
    tls: { ca: issuingRoot, serverName: api },
  })
  expect([sent.status, await sent.text()]).toEqual([202, expect.stringContaining('"queued"')])
  const nobody = await fetch(`https://127.0.0.1:${https}/v1/emails`, { tls: { ca: issuingRoot, serverName: api } })
  expect(nobody.status).toBe(401)

  const ready = (await mailroom.api('GET', '/ready')).json
  expect(ready.certificates.ready).toBe(true)
  expect(ready.certificates.detail).toMatch(/^\w+\.demo\.test: \d+ days left; \w+\.demo\.test: \d+ days left$/)
  const shown = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
  expect(shown).toMatch(/mailroom_certificate_expiry_timestamp_seconds\{name="mail\.demo\.test"\} \d{10}/)
  expect(shown).toContain('mailroom_certificate_orders_total{result="issued"} 2')
}, 60_000)

test('an MTA-STS policy is served on the policy host of the domain, with a certificate for it', async () => {
  const { db } = mailroom.database
  const record = { type: 'A', name: policyHost, value: '127.0.0.1', priority: null, ttl: 60 }
  await db
    .insertInto('local_records')
    .values({ id: newId('rec'), ...record, created_at: systemClock.now(), mark: null, updated_at: null })
    .execute()
  await setPolicy({ db, clock: systemClock }, 'demo.test', 'testing')
  await until(() => isShown(policyHost), { withinMs: 40_000 })
  const answer = await fetch(`https://127.0.0.1:${https}/.well-known/mta-sts.txt`, {
    headers: { host: policyHost },
    tls: { ca: issuingRoot, serverName: policyHost },
  })
  expect(await answer.text()).toContain(`mode: testing\r\nmx: ${hostname}\r\n`)
  expect(await isShown(api)).toBe(true)
}, 60_000)
