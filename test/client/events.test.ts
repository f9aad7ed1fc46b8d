import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Mailroom, MailroomError } from '../../client/src/index.ts'
import { type Mailroom as MailroomServer, startMailroom } from '../harness/mailroom.ts'
import { until } from '../harness/until.ts'

/** The events of a Mailroom process as the client gives them, while that process dies and starts again. */
let server: MailroomServer
beforeAll(async () => {
  server = await startMailroom()
}, 60_000)
afterAll(() => server?.stop(), 60_000)

/** The server listens on another port after each start. */
const connect = () =>
  new Mailroom({
    url: 'http://mailroom.test',
    key: server.key,
    fetch: (url, init) => fetch(url.replace('http://mailroom.test', server.http), init),
  })
const email = (subject: string) => ({ from: 'hello@demo.test', to: 'you@friend.test', subject, text: 'Hello.' })

const subjectOf = ({ data }: { readonly data: Record<string, unknown> }) => data['subject']

test('events go on after the server was killed, and in another process by the cursor: none is missed', async () => {
  const mailroom = connect()
  const ending = new AbortController()
  const stream = mailroom.events.watch({ types: ['email.queued'] }, ending)
  const seen: unknown[] = []
  const watching = (async () => {
    for await (const event of stream) seen.push(subjectOf(event))
  })().catch((error: unknown) => error)
  await until(() => stream.cursor !== undefined, { what: 'it knows where it is' })

  await mailroom.emails.send(email('First'))
  await until(() => seen.length === 1, { what: 'the first event' })
  await server.kill('SIGKILL')
  await server.restart()
  await mailroom.emails.send(email('Second'))
  await until(() => seen.length === 2, { what: 'the second event', withinMs: 30_000 })
  await until(() => stream.cursor !== undefined)
  ending.abort('enough')
  expect(await watching).toBe('enough')
  expect(seen).toEqual(['First', 'Second'])

  await mailroom.emails.send(email('Third'))
  const again = new AbortController()
  const after = stream.cursor
  if (after === undefined) throw new Error('it has no cursor')
  for await (const event of connect().events.watch({ after, types: ['email.queued'] }, again)) {
    if (subjectOf(event) === 'Second') continue
    expect(subjectOf(event)).toBe('Third')
    break
  }
}, 60_000)

test('the list has the events that are kept, page after page', async () => {
  const mailroom = connect()
  const ids: string[] = []
  for await (const { id } of mailroom.events.list({ after: '0', limit: 2 })) ids.push(id)
  expect(ids.length).toBeGreaterThanOrEqual(3)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a filter that the server refuses ends the events', async () => {
  const watch = async () => {
    for await (const _ of connect().events.watch({ after: 'x' })) break
  }
  const error = await watch().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(MailroomError)
  expect(error).toMatchObject({ code: 'invalid_cursor', param: 'after' })
})
