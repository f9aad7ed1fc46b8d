import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import { networkResolver } from '../../src/ports/resolver/network/network.ts'
import { type DnsForwarder, startForwarder } from '../harness/dns-forwarder.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { type PowerDns, startPowerDns } from '../harness/powerdns.ts'
import { deliverMessage } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** The life of a domain through the API alone, with a Mailroom process and a real DNS server. */
let powerDns: PowerDns
let forwarder: DnsForwarder
let mailroom: Mailroom
let folder: string

const hostname = 'mail.house.example'
const apex = 'customers.example'

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-life-'))
  powerDns = await startPowerDns()
  forwarder = await startForwarder(powerDns.endpoint)
  for (const zone of [apex, 'house.example', 'friend.example']) await powerDns.addZone(zone)
  await powerDns.put('house.example', hostname, 'A', ['127.0.0.1'])
  mailroom = await startMailroom({ MAILROOM_VAR: folder })
  await mailroom.kill('SIGTERM')
  await mailroom.restart({
    MAILROOM_DNS_ZONE: 'powerdns',
    MAILROOM_POWERDNS_URL: powerDns.url,
    MAILROOM_POWERDNS_KEY: powerDns.key,
    MAILROOM_RESOLVERS: `127.0.0.1:${forwarder.endpoint.port}`,
    MAILROOM_DNS_TIMEOUT_MS: '400',
    MAILROOM_HOSTNAME: hostname,
    MAILROOM_SPF_INCLUDE: 'spf.relay.example',
  })
}, 90_000)

afterAll(async () => {
  await mailroom?.stop()
  await forwarder?.close()
  await powerDns?.stop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

interface Shown {
  readonly purpose: string
  readonly type: string
  readonly name: string
  readonly value: string
  readonly priority: number | null
  readonly status: string
}

const get = async (path: string) => (await mailroom.api('GET', path)).json
const post = (path: string, body?: object) => mailroom.api('POST', path, body)

async function done(path: string, body?: object) {
  const { status, json } = await post(path, body)
  expect([path, status, json?.error]).toEqual([path, expect.any(Number), undefined])
  return json
}

/** Publishes a record by hand, as its owner would in the zone file. */
function publish({ type, name, value, priority }: Shown): Promise<void> {
  const content = type === 'TXT' ? strings(value) : `${priority === null ? '' : `${priority} `}${value}.`
  return powerDns.put(apex, name, type, [content])
}

function strings(text: string, length = 255): string {
  return [...text.matchAll(new RegExp(`.{1,${length}}`, 'g'))].map(([part]) => `"${part}"`).join(' ')
}

async function own(domain: string): Promise<Shown> {
  const { ownership } = await get(`/v1/domains/ownership?domain=${domain}&brand_id=${mailroom.demo.brand_id}`)
  await publish(ownership.record)
  return ownership.record
}

const statuses = (domain: { dns_records: readonly Shown[] }) =>
  Object.fromEntries(domain.dns_records.map(shown => [shown.purpose, shown.status]))

/** Mail from the domain passes authentication with the published records, and mail to it arrives. */
async function sendAndReceive(domain: string, domainId: string, localPart = 'hello'): Promise<void> {
  await done('/v1/mailboxes', { domain_id: domainId, local_part: localPart })
  const { id } = await done('/v1/emails', {
    from: `${localPart}@${domain}`,
    to: 'ann@friend.example',
    subject: `Out of ${domain}`,
    text: 'Hello.',
  })
  await until(async () => (await get(`/v1/emails/${id}`)).status === 'sent', { what: `${id} sent` })
  const stored = readdirSync(join(folder, 'sandbox')).map(name => readFileSync(join(folder, 'sandbox', name)))
  const message = stored.find(bytes => bytes.includes(`Out of ${domain}`)) ?? Buffer.alloc(0)
  const dns = networkResolver({ servers: [powerDns.endpoint], timeoutMs: 2000 })
  const resolver = async (name: string) => {
    const answer = await dns.resolve(name, 'TXT')
    return answer.kind === 'found' ? answer.records.map(record => [record]) : []
  }
  const { results } = await dkimVerify(message, { strict: true, resolver } as never)
  expect(results).toMatchObject([{ signingDomain: domain, status: { result: 'pass', aligned: domain } }])

  const lines = ['From: Ann <ann@friend.example>', `To: ${localPart}@${domain}`, 'Subject: In', '', 'Hello.']
  const envelope = { from: 'ann@friend.example', to: [`${localPart}@${domain}`], helo: 'mx.friend.example' }
  expect(await deliverMessage(mailroom, lines.join('\r\n'), envelope)).toMatchObject({ subject: 'In' })
}

test('/ready includes the DNS provider', async () => {
  expect(await get('/ready')).toMatchObject({ dns_provider: { ready: true, detail: null } })
})

test('publish-dns takes a domain from nothing to sending and receiving', async () => {
  const domain = `one.${apex}`
  await own(domain)
  const created = await done('/v1/domains', { brand_id: mailroom.demo.brand_id, domain, publish_dns: false })
  expect(created).toMatchObject({ ready_to_send: false, status: 'pending' })
  const { id } = created
  expect((await get(`/v1/domains/${id}/dns`)).dns_provider).toEqual({ configured: true, name: 'powerdns', zone: apex })
  const published = await done(`/v1/domains/${id}/publish-dns`)
  expect(published.conflicts).toEqual([])
  expect(published.published).toHaveLength(created.dns_records.length)
  expect(await get(`/v1/domains/${id}`)).toMatchObject({ ready_to_send: true, status: 'verified' })

  expect(await done(`/v1/domains/${id}/receiving`)).toMatchObject({ live: false, next_step: 'identity' })
  const again = await done(`/v1/domains/${id}/publish-dns`)
  expect(again.published.map((shown: Shown) => shown.purpose)).toEqual(['receiving_identity'])
  expect(again.unchanged).toHaveLength(published.published.length)
  const receiving = await done(`/v1/domains/${id}/receiving`)
  expect(receiving).toMatchObject({ live: false, next_step: 'mx' })
  const { type, name, value, priority } = receiving.mx.record
  expect((await post(`/v1/domains/${id}/dns/records`, { type, name, value, priority })).status).toBe(201)
  expect(await done(`/v1/domains/${id}/receiving`)).toMatchObject({ live: true })
  expect((await done(`/v1/domains/${id}/publish-dns`)).published).toEqual([])
  await sendAndReceive(domain, id)
})

test('records that somebody published before are reported as a conflict and stay', async () => {
  const domain = `two.${apex}`
  await own(domain)
  await powerDns.put(apex, domain, 'TXT', ['"v=spf1 mx -all"', '"site=1"'], { ttl: 7200 })
  const created = await done('/v1/domains', { brand_id: mailroom.demo.brand_id, domain })
  expect(created).toMatchObject({ ready_to_send: false })
  const { conflicts } = await done(`/v1/domains/${created.id}/publish-dns`)
  expect(conflicts).toMatchObject([
    { record: { purpose: 'spf', status: 'mismatch' }, existing: [{ value: 'v=spf1 mx -all', ttl: 7200 }] },
  ])
  expect(conflicts[0].existing).toHaveLength(1)
  const { rrsets } = await powerDns.ask('GET', `/zones/${apex}.`)
  const set = rrsets.find((rrset: Shown) => rrset.name === `${domain}.` && rrset.type === 'TXT')
  expect(set.ttl).toBe(7200)
  expect(set.records.map((record: { content: string }) => record.content).toSorted()).toEqual([
    '"site=1"',
    '"v=spf1 mx -all"',
  ])
})

describe('by hand', () => {
  const domain = `three.${apex}`
  let id: string
  let records: readonly Shown[]
  const recordOf = (purpose: string) => records.find(record => record.purpose === purpose) as Shown
  const check = async () => done(`/v1/domains/${id}/check`)

  beforeAll(async () => {
    expect((await post('/v1/domains', { brand_id: mailroom.demo.brand_id, domain })).json.error.code).toBe(
      'ownership_not_verified',
    )
    await own(domain)
    const created = await done('/v1/domains', { brand_id: mailroom.demo.brand_id, domain, publish_dns: false })
    id = created.id
    records = created.dns_records
  })

  test('wrong records are distinguished from missing ones', async () => {
    await powerDns.put(apex, recordOf('dkim').name, 'TXT', ['"v=DKIM1; p=AAAA"'])
    await powerDns.put(apex, domain, 'TXT', ['"v=spf1 -all"'])
    const checked = await check()
    expect(statuses(checked)).toMatchObject({ dkim: 'mismatch', spf: 'mismatch', dmarc: 'pending' })
    expect(checked.ready_to_send).toBe(false)
  })

  test('a key in several strings is read in one piece, and makes the domain ready', async () => {
    const { name, value } = recordOf('dkim')
    expect(value.length).toBeGreaterThan(255)
    await powerDns.put(apex, name, 'TXT', [strings(value, 97)])
    await publish(recordOf('spf'))
    expect(await check()).toMatchObject({ ready_to_send: true, status: 'verified' })
  })

  test('duplicated records are wrong, since no receiver may choose among them', async () => {
    const { value } = recordOf('spf')
    await powerDns.put(apex, domain, 'TXT', [strings(value), '"v=spf1 -all"'])
    expect(statuses(await check())).toMatchObject({ dkim: 'verified', spf: 'mismatch' })
    await publish(recordOf('spf'))
    expect((await check()).ready_to_send).toBe(true)
  })

  test('records whose lookup fails are unknown, and change nothing', async () => {
    forwarder.faults.set(recordOf('dkim').name, 'SERVFAIL')
    forwarder.faults.set(domain, 'silence')
    const checked = await check()
    expect(statuses(checked)).toMatchObject({ dkim: 'unknown', spf: 'unknown' })
    expect(checked.ready_to_send).toBe(true)
    forwarder.faults.clear()
    for (const trouble of ['SERVFAIL', 'silence'] as const) {
      forwarder.faults.set(`_mailroom.${domain}`, trouble)
      const { status, json } = await post(`/v1/domains/${id}/check`)
      expect([status, json.error.code, json.error.retryable]).toEqual([500, 'dns_unavailable', true])
      expect(await get(`/v1/domains/${id}`)).toMatchObject({ ownership_verified: true, ready_to_send: true })
    }
    forwarder.faults.clear()
  })

  test('it receives, and sends, once its records stand', async () => {
    for (const step of ['identity', 'mx'] as const) {
      const { next_step, identity, mx } = await done(`/v1/domains/${id}/receiving`)
      expect(next_step).toBe(step)
      for (const record of step === 'mx' ? [mx.record] : identity.dns_records) await publish(record)
    }
    expect(await done(`/v1/domains/${id}/receiving`)).toMatchObject({ live: true })
    await sendAndReceive(domain, id)
  })

  test('a domain loses what depends on removed records, and gets it back with them; a removed proof stops no mail', async () => {
    await powerDns.put(apex, recordOf('dkim').name, 'TXT', [])
    const checked = await check()
    expect(statuses(checked)).toMatchObject({ dkim: 'pending' })
    expect(checked.ready_to_send).toBe(false)
    await publish(recordOf('dkim'))
    expect((await check()).ready_to_send).toBe(true)
    await powerDns.put(apex, `_mailroom.${domain}`, 'TXT', [])
    expect((await post(`/v1/domains/${id}/check`)).json.error.code).toBe('ownership_not_verified')
    expect(await get(`/v1/domains/${id}`)).toMatchObject({ ready_to_send: true, receiving: { live: true } })
    expect((await post(`/v1/domains/${id}/receiving`)).json).toMatchObject({ live: true })
    await sendAndReceive(domain, id, 'unowned')
    await own(domain)
    expect(await check()).toMatchObject({ ownership_verified: true, ready_to_send: true })
  })
})

test('a wildcard record proves nothing: a domain is lost when its owner removes the proof', async () => {
  const domain = `wild.${apex}`
  const proof = await own(domain)
  const { id } = await done('/v1/domains', { brand_id: mailroom.demo.brand_id, domain, publish_dns: false })
  await powerDns.put('friend.example', 'proof.friend.example', 'TXT', [strings(proof.value)])
  const wildcard = { type: 'CNAME', name: '*', value: 'proof.friend.example' }
  expect((await post(`/v1/domains/${id}/dns/records`, wildcard)).status).toBe(201)
  expect((await get(`/v1/domains/${id}/dns`)).ownership).toMatchObject({ verified: true })

  await powerDns.put(apex, proof.name, 'TXT', [])
  const dns = networkResolver({ servers: [powerDns.endpoint], timeoutMs: 2000 })
  expect(await dns.resolve(proof.name, 'CNAME')).toMatchObject({ records: ['proof.friend.example'] })
  const { status, json } = await post(`/v1/domains/${id}/dns/records`, { ...wildcard, name: 'other' })
  expect([status, json.error.code]).toEqual([422, 'ownership_not_verified'])
  expect(json.error.reason ?? json.error.message).toContain('wildcard')
})

test('a wildcard record of the owner proves nothing for the names that it matches', async () => {
  const { ownership } = await get(`/v1/domains/ownership?domain=x.starred.${apex}&brand_id=${mailroom.demo.brand_id}`)
  await powerDns.put(apex, `*.starred.${apex}`, 'TXT', [strings(ownership.record.value)])
  const domain = { brand_id: mailroom.demo.brand_id, domain: `x.starred.${apex}` }
  expect((await post('/v1/domains', domain)).json.error.code).toBe('ownership_not_verified')
  await own(domain.domain)
  expect((await post('/v1/domains', { ...domain, publish_dns: false })).status).toBe(201)
})

test('an API key that the DNS provider refuses shows in /ready and provider_error, without the key', async () => {
  const key = 'a-very-secret-key'
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_POWERDNS_KEY: key })
  const ready = await mailroom.api('GET', '/ready')
  expect([ready.status, ready.json.dns_provider]).toEqual([
    503,
    { ready: false, detail: 'PowerDNS refused our API key.' },
  ])
  const domain = `four.${apex}`
  await own(domain)
  const created = await post('/v1/domains', { brand_id: mailroom.demo.brand_id, domain })
  expect(created.status).toBe(201)
  expect(created.json.provider_error).toContain('PowerDNS refused our API key.')
  const refused = await post(`/v1/domains/${created.json.id}/publish-dns`)
  expect([refused.status, refused.json.error.code]).toEqual([500, 'dns_provider_error'])
  const told = [ready.text, created.text, refused.text, JSON.stringify(mailroom.log)].join()
  expect(told).not.toContain(key)
  expect(refused.text).not.toContain('.ts:')
  await mailroom.kill('SIGTERM')
  await mailroom.restart({ MAILROOM_POWERDNS_KEY: powerDns.key })
  const mended = await done(`/v1/domains/${created.json.id}/provision`, {})
  expect(mended).not.toHaveProperty('provider_error')
  expect(mended.ready_to_send).toBe(true)
})
