import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { revokeKey } from '../../src/accounts/keys/keys.ts'
import type { Scope } from '../../src/api/scope.ts'
import type { BackgroundJob } from '../../src/base/concurrency/background-job.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { appendEvents, maxEventBytes, type NewEvent } from '../../src/events/append-events.ts'
import { eventCursor } from '../../src/events/cursor.ts'
import { type EventType, eventTypes, scopeOfEvent } from '../../src/events/event-types.ts'
import { type EventFeed, openEventFeed } from '../../src/events/feed.ts'
import { eventRoutes } from '../../src/events/routes.ts'
import { type SequenceWatch, watchSequence } from '../../src/events/sequence-watch.ts'
import { startSequencer } from '../../src/events/sequencer.ts'
import { deleteEvents, skipSequences } from '../../src/events/table.ts'
import { openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'
import { until } from '../harness/until.ts'

let server: TestHttpServer
let feed: EventFeed
let watch: SequenceWatch
let sequencer: BackgroundJob
let brand: Id<'brd'>

beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db } }) => {
      const log = pino({ level: 'silent' })
      watch = watchSequence({ db, log })
      sequencer = startSequencer({ db, log, onNumbered: watch.poll })
      feed = openEventFeed({ db, watch })
      return [eventRoutes(feed)]
    },
  })
  brand = await newBrand('one')
})
afterAll(async () => {
  feed.close()
  await sequencer.stop()
  await watch.close()
  await server.close()
})

async function newBrand(slug: string): Promise<Id<'brd'>> {
  const { status, json } = await server.call('POST', '/v1/brands', { json: { name: slug, slug } })
  expect(status).toBe(201)
  return json.id
}

function event(type: EventType, data: object = {}, more: Partial<NewEvent> = {}): NewEvent {
  const { organizationId } = server
  return { type, organizationId, brandId: brand, occurredAt: server.clock.now(), data, ...more }
}

/** Writes events, and waits until they can be read. */
async function happen(...events: readonly NewEvent[]): Promise<void> {
  const { db } = server.database
  const ids = events.map(() => newId('evt'))
  await appendEvents(
    db,
    events.map((one, i) => ({ ...one, id: ids[i] as Id<'evt'> })),
  )
  await until(async () => {
    const numbered = db.selectFrom('event_numbers').innerJoin('events', 'events.position', 'event_numbers.position')
    const query = numbered.select('events.id').where('events.id', 'in', ids)
    return (await query.execute()).length === ids.length
  })
}

const read = (query: string, key?: string) => server.call('GET', `/v1/events?${query}`, key ? { key } : {})
const now = async () => (await read('')).json.next_after as string
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
const numbers = (page: any) => page.data.map((one: any) => one.data.n)

describe('a page', () => {
  test('begins at the newest end, and goes on from its cursor', async () => {
    await happen(event('email.sent', { n: 0 }))
    const empty = await read('')
    expect([empty.status, empty.json.data]).toEqual([200, []])
    await happen(event('email.sent', { n: 1 }), event('email.delivered', { n: 2 }), event('email.sent', { n: 3 }))
    const first = await read(`after=${empty.json.next_after}&limit=2`)
    const second = await read(`after=${first.json.next_after}&limit=2`)
    expect([numbers(first.json), numbers(second.json)]).toEqual([[1, 2], [3]])
    expect((await read(`after=${second.json.next_after}`)).json).toEqual({
      data: [],
      next_after: second.json.next_after,
    })
    expect(first.json.data[0]).toEqual({
      id: expect.stringMatching(/^evt_/),
      sequence: expect.any(Number),
      type: 'email.sent',
      brand_id: brand,
      occurred_at: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { n: 1 },
    })
    const all = await read('after=0&limit=200')
    expect(numbers(all.json).slice(-4)).toEqual([0, 1, 2, 3])
  })

  test('has only what is asked for, and its cursor goes past the rest', async () => {
    const after = await now()
    const mailboxId = newId('mbx')
    const other = await newBrand('other')
    await happen(
      event('message.received', { n: 1 }, { mailboxId }),
      event('email.sent', { n: 2 }),
      event('email.sent', { n: 3 }, { brandId: other }),
      event('suppression.created', { n: 4 }),
      event('email.sent', { n: 5 }, { organizationId: newId('org') }),
    )
    const get = async (query: string) => numbers((await read(`after=${after}&${query}`)).json)
    expect(await get('types=message.received,suppression.created')).toEqual([1, 4])
    expect(await get(`brand_id=${other}`)).toEqual([3])
    expect(await get(`mailbox_id=${mailboxId}`)).toEqual([1])
    expect(await get('')).toEqual([1, 2, 3, 4])
    const none = await read(`after=${after}&types=domain.failed`)
    expect([none.json.data, none.json.next_after]).toEqual([[], await now()])
  })

  test('goes through many events for the few that match, a bounded number at a time', async () => {
    const organizationId = await server.newOrganization()
    const { key } = await server.newKey({ organizationId })
    const start = (await read('', key)).json.next_after
    const of = (type: EventType, n: number) => event(type, { n }, { organizationId, brandId: null })
    for (let i = 0; i < 11; i++)
      await appendEvents(
        server.database.db,
        Array.from({ length: 500 }, (_, n) => of('email.sent', n)),
      )
    await happen(of('domain.verified', 1))
    const pages: unknown[][] = []
    for (let after = start; pages.length < 3; ) {
      const { json } = await read(`after=${after}&types=domain.verified`, key)
      pages.push(numbers(json))
      after = json.next_after
    }
    expect(pages).toEqual([[], [1], []])
    const { json } = await read(`after=${start}&types=domain.verified&wait=5`, key)
    expect(numbers(json)).toEqual([1])
  })
})

describe('waiting', () => {
  test('ends with the next event that matches, at once', async () => {
    const after = await now()
    const waiting = read(`after=${after}&types=message.received&wait=20`)
    await Bun.sleep(300)
    await happen(event('email.sent', { n: 1 }), event('message.received', { n: 2 }, { organizationId: newId('org') }))
    await Bun.sleep(300)
    const startedAt = performance.now()
    await happen(event('message.received', { n: 3 }))
    expect(numbers((await waiting).json)).toEqual([3])
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })

  test('ends without one when the time is over, with a cursor that has gone on', async () => {
    const after = await now()
    await happen(event('email.sent'))
    const { json } = await read(`after=${after}&types=domain.failed&wait=1`)
    expect([json.data, json.next_after]).toEqual([[], await now()])
  })

  test('ends when the key is revoked, and gives out nothing', async () => {
    const { id, key } = await server.newKey()
    const waiting = read(`after=${await now()}&wait=20`, key)
    await Bun.sleep(300)
    await revokeKey(server.database.db, id, server.clock)
    await happen(event('email.sent', { n: 1 }))
    const { status, json } = await waiting
    expect([status, json.error.code]).toEqual([401, 'api_key_revoked'])
  })

  test('refuses a time past a minute', async () => {
    for (const wait of ['61', '-1', '1.5', 'x'])
      expect((await read(`wait=${wait}`)).json.error).toMatchObject({ code: 'invalid_request', param: 'wait' })
  })

  test('is for so many readers of an organization', async () => {
    const organizationId = await server.newOrganization()
    const { key } = await server.newKey({ organizationId })
    const waiting = Array.from({ length: 100 }, () => read('wait=3', key))
    await Bun.sleep(1000)
    const refused = await read('wait=3', key)
    expect([refused.status, refused.json.error.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '10',
    ])
    expect((await read('wait=0', key)).status).toBe(200)
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('a cursor', () => {
  test('that is not ours is refused', async () => {
    for (const after of ['x', '1', eventCursor(2 ** 50), Buffer.from('["-1"]').toString('base64url')])
      expect((await read(`after=${after}`)).json.error).toMatchObject({ code: 'invalid_cursor', param: 'after' })
  })

  test('whose events were deleted says where to go on, and nothing is passed over in silence', async () => {
    const organizationId = await server.newOrganization()
    const { key } = await server.newKey({ organizationId })
    const of = (n: number) => event('email.sent', { n }, { organizationId, brandId: null })
    await happen(of(1), of(2), of(3), of(4))
    const { json } = await read('after=0&limit=1', key)
    const events = (await read('after=0', key)).json.data as { sequence: number }[]
    const deleted = events.slice(0, 2).map(({ sequence }) => ({ organizationId, sequence }))
    await inTransaction(server.database.db, tx => deleteEvents(tx, deleted))
    const { status, json: refused } = await read(`after=${json.next_after}`, key)
    expect([status, refused.error.code, refused.error.param]).toEqual([400, 'cursor_expired', 'after'])
    expect(numbers((await read(`after=${refused.error.oldest_after}`, key)).json)).toEqual([3, 4])
    expect(numbers((await read('after=0', key)).json)).toEqual([3, 4])
    expect((await read(`after=${await now()}`, key)).status).toBe(200)
    const rest = events.slice(2).map(({ sequence }) => ({ organizationId, sequence }))
    await inTransaction(server.database.db, tx => deleteEvents(tx, rest))
    await happen(of(5))
    expect(numbers((await read('after=0', key)).json)).toEqual([5])
  })

  test('of before a restore goes on with what came after it', async () => {
    const after = await now()
    await skipSequences(server.database.db)
    await happen(event('email.sent', { n: 1 }))
    expect(numbers((await read(`after=${after}`)).json)).toEqual([1])
  })
})

describe('a key', () => {
  test('sees the types that its scopes read, and no others', async () => {
    const after = await now()
    await happen(...eventTypes.map(type => event(type, { n: type })))
    for (const scope of new Set(eventTypes.map(scopeOfEvent))) {
      const { key } = await server.newKey({ scopes: [scope] })
      const visible = eventTypes.filter(type => scopeOfEvent(type) === scope)
      expect(numbers((await read(`after=${after}`, key)).json)).toEqual(visible)
      for (const type of eventTypes) {
        const { status, json } = await read(`after=${after}&types=${type}`, key)
        if (visible.includes(type)) expect([status, numbers(json)]).toEqual([200, [type]])
        else
          expect([status, json.error.code, json.error.reason]).toEqual([403, 'insufficient_scope', scopeOfEvent(type)])
      }
    }
    const writer = await server.newKey({ scopes: ['email:send', 'inbox:write'] as readonly Scope[] })
    expect((await read('', writer.key)).json.error.code).toBe('insufficient_scope')
  })

  test('that is restricted to a brand sees its events, and none of the whole organization', async () => {
    const other = await newBrand('restricted')
    const { key } = await server.newKey({ brandId: other, scopes: ['email:read', 'webhooks:read'] })
    const after = await now()
    await happen(
      event('email.sent', { n: 1 }),
      event('email.sent', { n: 2 }, { brandId: other }),
      event('webhook.disabled', { n: 3 }, { brandId: null }),
    )
    expect(numbers((await read(`after=${after}`, key)).json)).toEqual([2])
    expect((await read(`after=${after}&brand_id=${brand}`, key)).json.error).toMatchObject({
      code: 'brand_restricted',
      param: 'brand_id',
    })
  })
})

test('a type that does not exist is named, with those that do', async () => {
  const { status, json } = await read('types=email.sent,email.opened')
  expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'types'])
  expect(json.error.message).toStartWith('There is no event type "email.opened"; the types are message.received,')
})

test('what is too large is shortened by its producer, or is a bug', async () => {
  const { db } = server.database
  const large = { text: '\u0001'.repeat(maxEventBytes / 6) }
  const after = await now()
  await happen(event('email.sent', large, { shortened: () => ({ n: 1 }) }))
  expect(numbers((await read(`after=${after}`)).json)).toEqual([1])
  expect(appendEvents(db, [event('email.sent', large)])).rejects.toThrow('20480 bytes')
})

describe('server-sent events', () => {
  const readers: Bun.Subprocess[] = []
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.kill()
  })

  /** What curl hears; a message each. */
  function listen(query: string, headers: Readonly<Record<string, string>> = {}, key = server.key) {
    const all = { accept: 'text/event-stream', authorization: `Bearer ${key}`, ...headers }
    const args = Object.entries(all).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    const child = Bun.spawn(['curl', '-sN', '-i', ...args, `${server.url}/v1/events?${query}`], { stdout: 'pipe' })
    readers.push(child)
    const heard = { text: '', ended: child.exited }
    void (async () => {
      const decoder = new TextDecoder()
      for await (const bytes of child.stdout) heard.text += decoder.decode(bytes, { stream: true })
    })()
    return heard
  }

  const messagesIn = (text: string) =>
    Array.from(text.matchAll(/^id: (.*)\ndata: (.*)$/gm), ([, id = '', data = '']) => ({
      id,
      n: JSON.parse(data).data.n,
    }))

  test('are the events from now on, and after a break those from the last id on', async () => {
    const first = listen('types=email.sent')
    await until(() => first.text.includes('retry: 2000\nid: '))
    expect(first.text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(first.text.toLowerCase()).toContain('content-type: text/event-stream\r\n')
    await happen(event('email.sent', { n: 1, text: 'line\nline' }), event('email.failed', { n: 2 }))
    await happen(event('email.sent', { n: 3 }))
    await until(() => messagesIn(first.text).length === 2)
    expect(messagesIn(first.text).map(({ n }) => n)).toEqual([1, 3])
    readers.splice(0)[0]?.kill()
    await happen(event('email.sent', { n: 4 }))
    const [one] = messagesIn(first.text)
    const second = listen('types=email.sent&after=0', { 'last-event-id': one?.id ?? '' })
    await until(() => messagesIn(second.text).length === 2)
    expect(messagesIn(second.text).map(({ n }) => n)).toEqual([3, 4])
  })

  test('end when the key is revoked', async () => {
    const { id, key } = await server.newKey()
    const heard = listen('', {}, key)
    await until(() => heard.text.includes('retry'))
    await revokeKey(server.database.db, id, server.clock)
    await happen(event('email.sent', { n: 1 }))
    expect(await heard.ended).toBe(0)
    expect(messagesIn(heard.text)).toEqual([])
  })

  test('a refusal is JSON, as elsewhere', async () => {
    const heard = listen('types=nonsense')
    await heard.ended
    expect(heard.text).toStartWith('HTTP/1.1 400 ')
    expect(heard.text).toContain('"param":"types"')
  })

  test('HEAD ends at once', async () => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${server.key}` }
    const response = await fetch(`${server.url}/v1/events`, { method: 'HEAD', headers })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

test('when the server stops, those who wait get their answer, and streams end', async () => {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${server.key}` }
  const stream = await fetch(`${server.url}/v1/events`, { headers })
  const waiting = read(`after=${await now()}&wait=30`)
  await Bun.sleep(300)
  const startedAt = performance.now()
  feed.close()
  expect((await waiting).json.data).toEqual([])
  await stream.text()
  expect(performance.now() - startedAt).toBeLessThan(2000)
})
