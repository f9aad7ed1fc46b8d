import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DnsForwarder, startForwarder } from '../harness/dns-forwarder.ts'
import { type ApiResponse, type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { type PowerDns, startPowerDns } from '../harness/powerdns.ts'

/**
 * Each step that a Mailroom takes outside of its database passes by a gate, at which it can be killed: before the step is
 * taken, or after, when its answer has not come back yet.
 */
interface Gate {
  readonly step: number
  readonly when: 'before' | 'after'
}

let powerDns: PowerDns
let forwarder: DnsForwarder
let api: ReturnType<typeof Bun.serve>
let mailroom: Mailroom
let gate: Gate | undefined
/** The writes to the DNS server since the kill point was set. */
let steps: string[] = []
let counts: (step: string) => boolean = () => true

const apex = 'customers.example'

async function pass<Answer>(step: string, take: () => Promise<Answer>): Promise<Answer> {
  if (!counts(step)) return take()
  const number = steps.push(step)
  const killed = gate?.step === number ? gate.when : undefined
  if (killed === 'before') await mailroom.kill('SIGKILL')
  const answer = await take()
  if (killed === 'after') await mailroom.kill('SIGKILL')
  return answer
}

beforeAll(async () => {
  powerDns = await startPowerDns()
  await powerDns.addZone(apex)
  forwarder = await startForwarder(powerDns.endpoint)
  forwarder.onQuestion = name => pass(`DNS ${name}`, () => Promise.resolve())
  api = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'PATCH' ? await request.text() : undefined
      return pass(method, () => fetch(powerDns.url + pathname + search, { method, headers, ...(body && { body }) }))
    },
  })
  mailroom = await startMailroom()
  await mailroom.kill('SIGTERM')
  await mailroom.restart({
    MAILROOM_DNS_ZONE: 'powerdns',
    MAILROOM_POWERDNS_URL: `http://127.0.0.1:${api.port}`,
    MAILROOM_POWERDNS_KEY: powerDns.key,
    MAILROOM_RESOLVERS: `127.0.0.1:${forwarder.endpoint.port}`,
    MAILROOM_HOSTNAME: 'mail.house.example',
    MAILROOM_SPF_INCLUDE: 'spf.relay.example',
  })
}, 90_000)

afterAll(async () => {
  await mailroom?.stop()
  await api?.stop(true)
  await forwarder?.close()
  await powerDns?.stop()
}, 60_000)

async function send(path: string, body: object | undefined, key: string): Promise<ApiResponse['json']> {
  const response = await fetch(`${mailroom.http}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${mailroom.key}`,
      'idempotency-key': key,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const json = await response.json()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(json)}`)
  return json
}

async function own(domain: string): Promise<void> {
  const { json } = await mailroom.api(
    'GET',
    `/v1/domains/ownership?domain=${domain}&brand_id=${mailroom.demo.brand_id}`,
  )
  const { name, value } = json.ownership.record
  await powerDns.put(apex, name, 'TXT', [`"${value}"`])
}

/** Runs the work with a kill point, then again with a new process. Was it killed? */
async function doTwice<Result>(at: Gate, work: () => Promise<Result>): Promise<{ result: Result; wasKilled: boolean }> {
  steps = []
  gate = at
  const first = await work().catch((error: unknown) => error)
  const wasKilled = steps.length >= at.step
  gate = undefined
  if (!wasKilled) return { result: first as Result, wasKilled }
  await mailroom.restart()
  // What the dead one held runs out by itself, in a minute; other tests wait for that.
  const { db } = mailroom.database
  await db.deleteFrom('zone_turns').execute()
  await db
    .updateTable('idempotency_keys')
    .set(({ ref }) => ({ leased_until: ref('created_at') }))
    .where('status', 'is', null)
    .execute()
  return { result: await work(), wasKilled }
}

interface Named {
  readonly type: string
  readonly name: string
}

/** Expects exactly these records and the ownership proof in the zone at and below the name, each once. */
async function expectOnce(domain: string, records: readonly Named[]): Promise<void> {
  const { rrsets } = await powerDns.ask('GET', `/zones/${apex}.`)
  const below = rrsets.filter(({ name }: Named) => name === `${domain}.` || name.endsWith(`.${domain}.`))
  const standing = below.flatMap(({ type, name, records: held }: Named & { records: unknown[] }) =>
    held.map(() => `${type} ${name.slice(0, -1)}`),
  )
  const wanted = [...records, { type: 'TXT', name: `_mailroom.${domain}` }].map(({ type, name }) => `${type} ${name}`)
  expect(standing.toSorted()).toEqual(wanted.toSorted())
}

/** Kills before every step and after every write. `work` returns whether it was killed. */
async function killEverywhere(work: (domain: string, at: Gate) => Promise<boolean>, prefix: string): Promise<void> {
  let kills = 0
  for (let step = 1, isOver = false; !isOver; step++) {
    isOver = !(await work(`${prefix}${step}.${apex}`, { step, when: 'before' }))
    if (!isOver) kills++
    if (isOver || steps[step - 1] !== 'PATCH') continue
    await work(`${prefix}${step}after.${apex}`, { step, when: 'after' })
    kills++
  }
  process.stdout.write(`killed ${kills} times\n`)
  expect(kills).toBeGreaterThan(10)
}

test('provisioning killed at any step is finished by the next attempt, with nothing twice', async () => {
  await killEverywhere(async (domain, at) => {
    await own(domain)
    const wanted = { brand_id: mailroom.demo.brand_id, domain, publish_dns: true }
    const { result, wasKilled } = await doTwice(at, () => send('/v1/domains', wanted, `enrol ${domain}`))
    expect(result).toMatchObject({ domain, ready_to_send: true, ownership_verified: true })
    expect(result).not.toHaveProperty('provider_error')
    await expectOnce(domain, result.dns_records)
    const again = await send(`/v1/domains/${result.id}/publish-dns`, undefined, `again ${domain}`)
    expect(again).toMatchObject({ published: [], conflicts: [] })
    return wasKilled
  }, 'enrol')
}, 300_000)

test('publishing for receiving killed at any write is finished by the next attempt', async () => {
  counts = step => step === 'PATCH'
  await killEverywhere(async (domain, at) => {
    await own(domain)
    const wanted = { brand_id: mailroom.demo.brand_id, domain, publish_dns: false }
    const { id } = await send('/v1/domains', wanted, `make ${domain}`)
    const { result, wasKilled } = await doTwice(at, async () => {
      await send(`/v1/domains/${id}/receiving`, undefined, `claim ${domain}`)
      await send(`/v1/domains/${id}/publish-dns`, undefined, `publish ${domain}`)
      const mx = { type: 'MX', name: '@', value: 'mail.house.example', priority: 10 }
      await send(`/v1/domains/${id}/dns/records`, mx, `mx ${domain}`)
      return send(`/v1/domains/${id}/receiving`, undefined, `end ${domain}`)
    })
    expect(result).toMatchObject({ live: true })
    const { dns_records, receiving } = (await mailroom.api('GET', `/v1/domains/${id}`)).json
    await expectOnce(domain, [...dns_records, ...receiving.identity.dns_records, receiving.mx.record])
    return wasKilled
  }, 'receive')
}, 300_000)
