import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isLong } from '../harness/amount.ts'
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

/** Runs the work with a kill point, then again with a new process. `steps` are those of the first time. */
async function doTwice<Result>(
  at: Gate | undefined,
  work: () => Promise<Result>,
): Promise<{ result: Result; steps: readonly string[] }> {
  steps = []
  gate = at
  const first = await work().catch((error: unknown) => error)
  const taken = [...steps]
  gate = undefined
  if (at === undefined || taken.length < at.step) return { result: first as Result, steps: taken }
  await mailroom.restart()
  // What the dead one held runs out by itself, in a minute; other tests wait for that.
  const { db } = mailroom.database
  await db.deleteFrom('zone_turns').execute()
  await db
    .updateTable('idempotency_keys')
    .set(({ ref }) => ({ leased_until: ref('created_at') }))
    .where('status', 'is', null)
    .execute()
  return { result: await work(), steps: taken }
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

/**
 * Where to kill: before every step and after every write. In the short form after one write and before the next in turn,
 * and before the first, a middle and the last one of the other steps.
 */
function killPoints(all: readonly string[]): readonly Gate[] {
  const isWrite = ({ step }: Gate) => all[step - 1] === 'PATCH'
  const before = all.map((_, i): Gate => ({ step: i + 1, when: 'before' }))
  const points = before.flatMap((gate): readonly Gate[] =>
    isWrite(gate) ? [gate, { ...gate, when: 'after' }] : [gate],
  )
  if (isLong) return points
  const reads = points.filter(gate => !isWrite(gate))
  const someReads = new Set([reads[0], reads[reads.length >> 1], reads.at(-1)])
  return [
    ...points.filter(isWrite).filter((_, i) => i % 4 === 1 || i % 4 === 2),
    ...reads.filter(gate => someReads.has(gate)),
  ]
}

/** Does the work once to the end, to see its steps, then once for each kill. `work` returns the steps that it began. */
async function killOften(
  work: (domain: string, at: Gate | undefined) => Promise<readonly string[]>,
  prefix: string,
): Promise<void> {
  const points = killPoints(await work(`${prefix}.${apex}`, undefined))
  for (const { step, when } of points)
    expect((await work(`${prefix}${step}${when}.${apex}`, { step, when })).length).toBeGreaterThanOrEqual(step)
  process.stdout.write(`killed ${points.length} times\n`)
  expect(points.filter(({ when }) => when === 'after').length).toBeGreaterThan(isLong ? 5 : 2)
}

test('provisioning killed at any step is finished by the next attempt, with nothing twice', async () => {
  await killOften(async (domain, at) => {
    await own(domain)
    const wanted = { brand_id: mailroom.demo.brand_id, domain, publish_dns: true }
    const { result, steps } = await doTwice(at, () => send('/v1/domains', wanted, `enrol ${domain}`))
    expect(result).toMatchObject({ domain, ready_to_send: true, ownership_verified: true })
    expect(result).not.toHaveProperty('provider_error')
    await expectOnce(domain, result.dns_records)
    const again = await send(`/v1/domains/${result.id}/publish-dns`, undefined, `again ${domain}`)
    expect(again).toMatchObject({ published: [], conflicts: [] })
    return steps
  }, 'enrol')
}, 300_000)

test('publishing for receiving killed at any write is finished by the next attempt', async () => {
  counts = step => step === 'PATCH'
  await killOften(async (domain, at) => {
    await own(domain)
    const wanted = { brand_id: mailroom.demo.brand_id, domain, publish_dns: false }
    const { id } = await send('/v1/domains', wanted, `make ${domain}`)
    const { result, steps } = await doTwice(at, async () => {
      await send(`/v1/domains/${id}/receiving`, undefined, `claim ${domain}`)
      await send(`/v1/domains/${id}/publish-dns`, undefined, `publish ${domain}`)
      const mx = { type: 'MX', name: '@', value: 'mail.house.example', priority: 10 }
      await send(`/v1/domains/${id}/dns/records`, mx, `mx ${domain}`)
      return send(`/v1/domains/${id}/receiving`, undefined, `end ${domain}`)
    })
    expect(result).toMatchObject({ live: true })
    const { dns_records, receiving } = (await mailroom.api('GET', `/v1/domains/${id}`)).json
    await expectOnce(domain, [...dns_records, ...receiving.identity.dns_records, receiving.mx.record])
    return steps
  }, 'receive')
}, 300_000)
