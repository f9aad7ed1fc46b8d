import { afterEach, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { headerValues, unstuffed } from '../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function relay(): Promise<ScriptedRelay> {
  const opened = await startScriptedRelay({ ehlo: '250-relay.test\r\n250-SIZE 1000000\r\n250 DSN' })
  ends.push(() => opened.close())
  return opened
}

async function mailroom(env: Record<string, string>): Promise<Mailroom> {
  const started = await startMailroom(env)
  ends.push(() => started.stop())
  return started
}

async function send(mail: Mailroom, to: string) {
  const answer = await mail.api('POST', '/v1/emails', { from: 'hello@demo.test', to, subject: 'Hello', text: 'Hello' })
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)])
  return answer.json.id as string
}

async function statusBecomes(mail: Mailroom, id: string, status: string) {
  const emailOf = async () => (await mail.api('GET', `/v1/emails/${id}`)).json
  const details = async () => `status ${(await emailOf()).status}`
  return until(
    async () => {
      const email = await emailOf()
      return email.status === status && email
    },
    { what: `${id} ${status}`, details },
  )
}

const postmark = (urls: string) => ({
  MAILROOM_PROVIDER: 'smarthost',
  MAILROOM_SMARTHOST_URL: urls,
  MAILROOM_SMARTHOST_PRESET: 'postmark',
})

test('an email goes out through the second of two hosts in Postmark’s form, and Postmark’s events settle it', async () => {
  const [gone, sink] = [await relay(), await relay()]
  await gone.close()
  const mail = await mailroom({ ...postmark(`${gone.url},${sink.url}`), MAILROOM_POSTMARK_TOKEN: 'a-token' })
  expect((await mail.api('GET', '/ready')).json.relay).toEqual({ ready: true, detail: null })

  const id = await send(mail, 'a@x.test')
  await statusBecomes(mail, id, 'sent')
  const [taken] = sink.accepted
  if (!taken) throw new Error('nothing was taken')
  const message = unstuffed(taken)
  expect(headerValues(message, 'X-PM-Metadata-mailroom-id')).toEqual([id])
  expect(headerValues(message, 'X-PM-KeepID')).toEqual(['true'])
  const [signature = ''] = headerValues(message, 'DKIM-Signature')
  expect(signature.toLowerCase()).not.toMatch(/x-pm-|\bdate\b/)
  // The reverse-path would be Postmark's own: none of ours is claimed.
  expect(taken.from).toBe('hello@demo.test')
  expect(sink.commands.some(command => command.includes('NOTIFY='))).toBe(false)

  const record = {
    RecordType: 'Delivery',
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    Recipient: 'a@x.test',
    DeliveredAt: new Date().toISOString(),
    Details: 'smtp;250 2.0.0 OK',
    Metadata: { 'mailroom-id': id },
  }
  const tell = (token: string) =>
    fetch(`${mail.http}/provider/postmark/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`mailroom:${token}`)}` },
      body: JSON.stringify(record),
    })
  expect((await tell('another')).status).toBe(401)
  expect((await mail.api('GET', `/v1/emails/${id}`)).json.status).toBe('sent')
  expect((await tell('a-token')).status).toBe(200)
  const settled = await statusBecomes(mail, id, 'delivered')
  expect(settled.provider).toBe('postmark')
  expect(settled.provider_message_id).toBe(record.MessageID)
  expect(settled.events.at(-1)).toMatchObject({ type: 'delivered', source: 'provider_webhook', detail: record.Details })
}, 60_000)

test('/ready says when the provider reports no events', async () => {
  const sink = await relay()
  const mail = await mailroom(postmark(sink.url))
  expect((await mail.api('GET', '/ready')).json.relay).toEqual({
    ready: true,
    detail: 'postmark reports nothing: a status ends at sent',
  })
  const answer = await fetch(`${mail.http}/provider/postmark/events`, { method: 'POST', body: '{}' })
  expect(answer.status).toBe(404)
}, 60_000)

test('the simulator’s recipients produce events and suppressions', async () => {
  const sink = await relay()
  const mail = await mailroom({ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: sink.url })
  const bounced = await statusBecomes(mail, await send(mail, 'bounce+1@simulator.test'), 'bounced')
  expect(bounced.recipients[0]).toMatchObject({ status: 'bounced', enhanced_code: '5.1.1' })
  const bounce = bounced.events.find((event: { type: string }) => event.type === 'bounced')
  expect(bounce.bounce).toEqual({ type: 'permanent', scope: 'recipient', suppressed: true })
  const again = await mail.api('POST', '/v1/emails', {
    from: 'hello@demo.test',
    to: 'bounce+1@simulator.test',
    subject: 'Hello',
    text: 'Hello',
  })
  expect([again.status, again.json.error.code]).toEqual([422, 'recipient_suppressed'])
  await statusBecomes(mail, await send(mail, 'complaint@simulator.test'), 'complained')
  await statusBecomes(mail, await send(mail, 'delivered@simulator.test'), 'delivered')
  await statusBecomes(mail, await send(mail, 'ooto@simulator.test'), 'delivered')
  expect(sink.accepted).toEqual([])
}, 60_000)
