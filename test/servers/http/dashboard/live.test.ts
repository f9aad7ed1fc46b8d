import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import type { BackgroundJob } from '../../../../src/base/concurrency/background-job.ts'
import { inTransaction } from '../../../../src/base/database/database.ts'
import { type Id, newId } from '../../../../src/base/ids.ts'
import { appendEvents } from '../../../../src/events/append-events.ts'
import { type SequenceWatch, watchSequence } from '../../../../src/events/sequence-watch.ts'
import { startSequencer } from '../../../../src/events/sequencer.ts'
import { type Live, openLive } from '../../../../src/servers/http/live/live.ts'
import { liveRoutes } from '../../../../src/servers/http/live/routes.ts'
import { openTestHttpServer, type TestHttpServer } from '../../../harness/http-server.ts'
import { until } from '../../../harness/until.ts'
import { type SignedIn, signInAs } from './browser.ts'

let server: TestHttpServer
let live: Live
let watch: SequenceWatch
let sequencer: BackgroundJob
let owner: SignedIn

beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database, clock }) => {
      const log = pino({ level: 'silent' })
      const { db } = database
      watch = watchSequence({ db, log })
      sequencer = startSequencer({ db, log, onNumbered: watch.poll })
      live = openLive({ db, watch, clock, log })
      return [liveRoutes(live)]
    },
  })
  owner = await signInAs(server, { role: 'owner' })
})
afterAll(async () => {
  await live.close()
  await sequencer.stop()
  await watch.close()
  await server.close()
})

const open: AbortController[] = []
afterEach(() => {
  for (const connection of open.splice(0)) connection.abort()
})

/** What a page hears, as text; `ended` once the server has ended it. */
interface Heard {
  readonly status: number
  readonly headers: Headers
  text: string
  ended: boolean
}

async function listen(person: SignedIn, headers: Record<string, string> = {}, query = ''): Promise<Heard> {
  const connection = new AbortController()
  open.push(connection)
  const response = await fetch(`${server.url}/app/api/live${query}`, {
    headers: { cookie: `mailroom=${person.cookie}`, ...headers },
    signal: connection.signal,
  })
  const heard: Heard = { status: response.status, headers: response.headers, text: '', ended: false }
  void (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const bytes of response.body ?? []) heard.text += decoder.decode(bytes, { stream: true })
      heard.ended = true
    } catch {
      // Aborted by the test.
    }
  })()
  return heard
}

const everything = 'messages,emails,domains,suppressions,brands,webhooks,events'

const topicsIn = ({ text }: Heard) => Array.from(text.matchAll(/^data: (.*)$/gm), ([, topics = '']) => topics)

/** A domain of the organization, which nothing else needs. */
async function newDomain(organizationId: Id<'org'>): Promise<Id<'dom'>> {
  const { db } = server.database
  const id = newId('dom')
  const at = server.clock.now()
  const brand = newId('brd')
  await db
    .insertInto('brands')
    .values({
      id: brand,
      organization_id: organizationId,
      name: 'b',
      slug: brand.slice(4),
      status: 'pending',
      created_at: at,
      updated_at: at,
    })
    .execute()
  await db
    .insertInto('domains')
    .values({
      id,
      organization_id: organizationId,
      brand_id: brand,
      domain: `${id.slice(4)}.test`,
      status: 'pending',
      ownership_verified: 0,
      provider_error: null,
      last_checked_at: null,
      created_at: at,
    })
    .execute()
  return id
}

function newEvent(organizationId: Id<'org'>, db = server.database.db): Promise<void> {
  const event = { type: 'email.sent', organizationId, brandId: null, occurredAt: server.clock.now(), data: {} } as const
  return appendEvents(db, [event])
}

test('a page is told what changed in its organization, within two seconds, and nothing of another', async () => {
  const heard = await listen(owner)
  expect([heard.status, heard.headers.get('content-type'), heard.headers.get('cache-control')]).toEqual([
    200,
    'text/event-stream',
    'no-store',
  ])
  await until(async () => heard.text.includes('retry: 2000\nid: 0\n\n'))
  await Bun.sleep(1500)
  expect(topicsIn(heard)).toEqual([])
  await newEvent(await server.newOrganization())
  await Bun.sleep(1500)
  expect(topicsIn(heard)).toEqual([])
  const startedAt = performance.now()
  await newEvent(server.organizationId)
  await until(async () => topicsIn(heard).includes('emails,events'))
  expect(performance.now() - startedAt).toBeLessThan(2000)
  await newDomain(server.organizationId)
  await until(async () => topicsIn(heard).includes('domains'))
  await Bun.sleep(2500)
  expect(topicsIn(heard)).toEqual(['emails,events', 'domains'])
})

test('an event that is committed late, among later ones, is told too', async () => {
  const { db } = server.database
  const heard = await listen(owner)
  await Bun.sleep(1500)
  const told = topicsIn(heard).length
  await inTransaction(db, async tx => {
    await newEvent(server.organizationId, tx)
    await newEvent(server.organizationId)
    await until(async () => topicsIn(heard).length === told + 1)
  })
  await until(async () => topicsIn(heard).length === told + 2)
  expect(topicsIn(heard).at(-1)).toBe('emails,events')
})

test('a page that was away is told that everything may have changed', async () => {
  const heard = await listen(owner, { 'last-event-id': '1' })
  await until(async () => topicsIn(heard).length > 0)
  expect(topicsIn(heard)).toEqual([everything])
  expect(heard.text).toMatch(/^id: \d+$/m)
})

test('the stream ends with the session, and with the membership', async () => {
  const ended = await signInAs(server, { role: 'owner' })
  const removed = await signInAs(server, { role: 'owner' })
  const [one, other, stays] = [await listen(ended), await listen(removed), await listen(owner)]
  const { db } = server.database
  await db.deleteFrom('sessions').where('id', '=', ended.sessionId).execute()
  await db.deleteFrom('members').where('user_id', '=', removed.userId).execute()
  await until(async () => one.ended && other.ended)
  expect(stays.ended).toBe(false)
  expect((await listen(ended)).status).toBe(401)
})

test('a person has so many streams and no more, and those that were left are free again', async () => {
  const person = await signInAs(server, { role: 'owner' })
  const heard = await Promise.all(Array.from({ length: 12 }, () => listen(person)))
  expect(heard.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200))
  expect((await listen(person)).status).toBe(429)
  for (const connection of open.splice(0)) connection.abort()
  await until(async () => (await listen(person)).status === 200)
})

test('HEAD ends at once', async () => {
  const response = await fetch(`${server.url}/app/api/live`, {
    method: 'HEAD',
    headers: { cookie: `mailroom=${owner.cookie}` },
  })
  expect([response.status, await response.text()]).toEqual([200, ''])
})

test('operators hear of the instance, where they name no organization', async () => {
  const person = await signInAs(server, { role: 'owner' })
  await server.database.db
    .insertInto('operators')
    .values({ user_id: person.userId, created_at: server.clock.now() })
    .execute()
  const heard = await listen(person, { 'last-event-id': '1' })
  await until(async () => topicsIn(heard).length > 0)
  expect(topicsIn(heard)).toEqual(['tasks'])
  const ofOrganization = await listen(person, { 'last-event-id': '1' }, `?organization=${server.organizationId}`)
  await until(async () => topicsIn(ofOrganization).length > 0)
  expect(topicsIn(ofOrganization)).toEqual([everything])
})

test('at shutdown all streams end at once, and no new one begins', async () => {
  const heard = await listen(owner)
  const startedAt = performance.now()
  await live.close()
  await until(async () => heard.ended)
  expect(performance.now() - startedAt).toBeLessThan(1500)
  expect((await listen(owner)).status).toBe(500)
})
