import { systemClock } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { CommandError } from '../base/operator-error.ts'
import { localZone } from '../ports/dns-zone/local/local.ts'
import type { ZoneRecord } from '../ports/dns-zone/port.ts'

/** The ids of the demo: a brand, its domain and a mailbox there. */
export interface DemoIds {
  readonly organization_id: Id<'org'>
  readonly brand_id: string
  readonly domain_id: string
  readonly mailbox_id: string
}

export const demoDomain = 'demo.test'

/** A DNS record as the API shows it. */
interface DnsRecordJson {
  readonly type: ZoneRecord['type']
  readonly name: string
  readonly value: string
  readonly priority: number | null
  readonly ttl: number
}

interface ReceivingJson {
  readonly live: boolean
  readonly next_step?: string
  readonly mx: { readonly record: DnsRecordJson }
  readonly identity: { readonly dns_records: readonly DnsRecordJson[] }
}

/** The base address of an API, and a key for it. */
export interface ApiAccess {
  readonly base: string
  readonly key: string
}

/**
 * Creates the brand `demo`, the domain demo.test, which sends and receives, the mailbox hello@demo.test and a catch-all,
 * as a client of the API does; what exists already is used. `db` holds the local zone, in which the records that the API
 * asks for are published.
 */
export async function createDemo(api: ApiAccess, db: Db): Promise<DemoIds> {
  const publish = publisher(db)
  const brand = await findOrCreate<{ id: string; organization_id: Id<'org'>; slug: string }>(
    api,
    '/v1/brands',
    brand => brand.slug === 'demo',
    { name: 'Demo', slug: 'demo' },
  )
  await publish([address('mail.demo.test')])
  const { ownership } = await callApi<{ ownership: { record: DnsRecordJson } }>(
    api,
    'GET',
    `/v1/domains/ownership?domain=${demoDomain}&brand_id=${brand.id}`,
  )
  await publish([ownership.record])
  const domain = await findOrCreate<{ id: string; domain: string; dns_records: readonly DnsRecordJson[] }>(
    api,
    '/v1/domains',
    existing => existing.domain === demoDomain,
    { brand_id: brand.id, domain: demoDomain },
  )
  await enableSending(api, domain, publish)
  await enableReceiving(api, domain.id, publish)
  const mailbox = (localPart?: string) =>
    findOrCreate<{ id: string; domain_id: string; local_part: string | null }>(
      api,
      '/v1/mailboxes',
      mailbox => mailbox.domain_id === domain.id && mailbox.local_part === (localPart ?? null),
      { domain_id: domain.id, ...(localPart === undefined ? {} : { local_part: localPart }) },
    )
  const hello = await mailbox('hello')
  await mailbox()
  return {
    organization_id: brand.organization_id,
    brand_id: brand.id,
    domain_id: domain.id,
    mailbox_id: hello.id,
  }
}

type Publish = (records: readonly DnsRecordJson[]) => Promise<void>

function publisher(db: Db): Publish {
  const provider = localZone(db, systemClock)
  return async records => {
    const zone = await provider.findZone(demoDomain)
    for (const { type, name, value, priority, ttl } of records)
      await zone?.create({ type, name, value, priority, ttlSeconds: ttl }, null)
  }
}

function address(name: string): DnsRecordJson {
  return { type: 'A', name, value: '127.0.0.1', priority: null, ttl: 300 }
}

async function enableSending(
  api: ApiAccess,
  domain: { readonly id: string; readonly dns_records: readonly DnsRecordJson[] },
  publish: Publish,
): Promise<void> {
  await publish(domain.dns_records)
  const checked = await callApi<{ ready_to_send: boolean }>(api, 'POST', `/v1/domains/${domain.id}/check`)
  if (!checked.ready_to_send) throw new CommandError(`${demoDomain} did not become ready to send.`)
}

/** Each response names the records to publish next; with three steps there are at most four responses. */
async function enableReceiving(api: ApiAccess, domainId: string, publish: Publish): Promise<void> {
  for (let responses = 0; responses < 4; responses++) {
    const receiving = await callApi<ReceivingJson>(api, 'POST', `/v1/domains/${domainId}/receiving`)
    if (receiving.live) return
    await publish(receiving.next_step === 'mx' ? [receiving.mx.record] : receiving.identity.dns_records)
  }
  throw new CommandError(`${demoDomain} did not become ready to receive.`)
}

async function findOrCreate<Thing>(
  api: ApiAccess,
  path: string,
  isWanted: (thing: Thing) => boolean,
  body: Readonly<Record<string, string>>,
): Promise<Thing> {
  const { data } = await callApi<{ data: readonly Thing[] }>(api, 'GET', path)
  return data.find(isWanted) ?? (await callApi<Thing>(api, 'POST', path, body))
}

/** Does the API accept this key? */
export async function isKeyValid(api: ApiAccess): Promise<boolean> {
  const response = await fetchApi(api, 'GET', '/v1/brands')
  return response.ok
}

async function callApi<Body>(api: ApiAccess, method: string, path: string, body?: object): Promise<Body> {
  const response = await fetchApi(api, method, path, body)
  if (!response.ok) throw new CommandError(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

function fetchApi(api: ApiAccess, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${api.base}${path}`, {
    method,
    headers: { authorization: `Bearer ${api.key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
}
