import { describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook, WebhookVerificationError } from '../../client/src/index.ts'

/** The requests are signed by the reference implementation of Standard Webhooks, which also judges those that are refused. */
const newSecret = () => `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`
const secret = newSecret()
const event = { id: 'evt_1', type: 'message.received', data: { subject: 'Grüße 🎉' } }
const body = JSON.stringify(event)

function headersFor({ of = body, by = [secret], at = Date.now() / 1000, id = 'evt_1' } = {}) {
  const seconds = Math.floor(at)
  const signatures = by.map(one => new Webhook(one).sign(id, new Date(seconds * 1000), of))
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') }
}

test('gives the event of a request that was signed with the secret', async () => {
  const headers = headersFor()
  expect(new Webhook(secret).verify(body, headers)).toEqual(event)
  expect(await verifyWebhook<typeof event>({ body, headers }, secret)).toEqual(event)
  expect(await verifyWebhook({ body: new TextEncoder().encode(body), headers: new Headers(headers) }, secret)).toEqual(
    event,
  )
  const upperCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  expect(await verifyWebhook({ body, headers: upperCase }, secret)).toEqual(event)
  expect(await verifyWebhook({ body, headers }, secret.slice('whsec_'.length))).toEqual(event)
})

test('takes both secrets while one is replaced by the other', async () => {
  const other = newSecret()
  const byBoth = headersFor({ by: [other, secret] })
  for (const one of [secret, other]) expect(await verifyWebhook({ body, headers: byBoth }, one)).toEqual(event)
  const byOld = headersFor({ by: [secret] })
  expect(await verifyWebhook({ body, headers: byOld }, [other, secret])).toEqual(event)
  const { 'webhook-signature': signature, ...rest } = headersFor()
  const withOthers = { ...rest, 'webhook-signature': `v1a,AAAA v2,${signature.slice(3)} v1,*** v1, ${signature}` }
  expect(await verifyWebhook({ body, headers: withOthers }, secret)).toEqual(event)
})

describe('refuses, as the reference does,', () => {
  const now = Date.now() / 1000
  const good = headersFor()
  const without = (name: keyof typeof good) => {
    const { [name]: _, ...rest } = good
    return rest
  }
  const cases: readonly (readonly [string, string, Record<string, string>])[] = [
    ['another body', body.replace('evt_1', 'evt_2'), good],
    ['a body that was parsed and written again', JSON.stringify(event, null, 1), good],
    ['another id', body, { ...good, 'webhook-id': 'evt_2' }],
    ['another time', body, { ...good, 'webhook-timestamp': String(Math.floor(now) - 1) }],
    ['another secret', body, headersFor({ by: [newSecret()] })],
    ['an old request', body, headersFor({ at: now - 310 })],
    ['a request from the future', body, headersFor({ at: now + 310 })],
    ['a time that is none', body, { ...good, 'webhook-timestamp': 'soon' }],
    ['no id', body, without('webhook-id')],
    ['no time', body, without('webhook-timestamp')],
    ['no signature', body, without('webhook-signature')],
    ['an empty signature', body, { ...good, 'webhook-signature': 'v1,' }],
    ['another version', body, { ...good, 'webhook-signature': good['webhook-signature'].replace('v1,', 'v2,') }],
  ]
  test.each(cases)('%s', async (_, text, headers) => {
    expect(() => new Webhook(secret).verify(text, headers)).toThrow()
    const error = await verifyWebhook({ body: text, headers }, secret).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WebhookVerificationError)
  })
})

test('takes an older request where that is asked for', async () => {
  const headers = headersFor({ at: Date.now() / 1000 - 3600 })
  expect(await verifyWebhook({ body, headers }, secret, { toleranceSeconds: 4000 })).toEqual(event)
})

test('says that a secret is none', async () => {
  for (const wrong of ['', 'whsec_', 'whsec_***'])
    await expect(verifyWebhook({ body, headers: headersFor() }, wrong)).rejects.toThrow('is `whsec_` and base64')
})
