import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Mailroom, verifyWebhook } from '../../client/src/index.ts'
import { type Mailroom as MailroomServer, startMailroom } from '../harness/mailroom.ts'
import { until } from '../harness/until.ts'

/** Webhooks as a program with the client has them: it creates one, verifies what it is sent, and lists the deliveries. */
let server: MailroomServer
let receiver: ReturnType<typeof Bun.serve>
const received: Request[] = []
const bodies: string[] = []

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      bodies.push(await request.text())
      received.push(request)
      return new Response('thanks')
    },
  })
  server = await startMailroom({ MAILROOM_WEBHOOK_ALLOW: '127.0.0.0/8', MAILROOM_WEBHOOK_HTTP: 'true' })
}, 60_000)
afterAll(async () => {
  await server?.stop()
  receiver?.stop(true)
}, 60_000)

test('an event that was delivered is verified with the secret that creating the webhook gave', async () => {
  const mailroom = new Mailroom({ url: server.http, key: server.key })
  const url = `http://127.0.0.1:${receiver.port}/hook`
  const { id, secret } = await mailroom.webhooks.create({ url, types: ['email.queued'] })
  expect(await mailroom.webhooks.test(id)).toMatchObject({ is_delivered: true, http_status: 200, response: 'thanks' })
  await mailroom.emails.send({ from: 'hello@demo.test', to: 'you@friend.test', subject: 'Hooked', text: 'Hello.' })
  await until(() => received.length === 2, { what: 'the event is delivered' })

  const events = await Promise.all(
    received.map(({ headers }, i) => verifyWebhook<{ type: string }>({ body: bodies[i] ?? '', headers }, secret)),
  )
  expect(events.map(({ type }) => type)).toEqual(['webhook.test', 'email.queued'])
  const old = { body: bodies[0] ?? '', headers: received[0]?.headers ?? new Headers() }
  const rotated = await mailroom.webhooks.rotateSecret(id)
  await expect(verifyWebhook(old, rotated.secret)).rejects.toThrow('No signature')
  expect(await verifyWebhook<{ type: string }>(old, [rotated.secret, secret])).toMatchObject({ type: 'webhook.test' })

  const deliveries: string[] = []
  const isRecorded = async () => {
    deliveries.splice(0)
    for await (const { status, type } of mailroom.webhooks.deliveries(id)) deliveries.push(`${type} ${status}`)
    return deliveries.includes('email.queued delivered')
  }
  await until(isRecorded, { what: 'the delivery is recorded' })
  expect(await mailroom.webhooks.update(id, { enabled: false })).toMatchObject({ status: 'disabled' })
  expect((await mailroom.webhooks.list()).data.map(one => one.id)).toEqual([id])
  expect(await mailroom.webhooks.delete(id)).toEqual({ id, deleted: true })
}, 60_000)
