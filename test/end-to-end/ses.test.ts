import { expect, test } from 'bun:test'
import { type ApiResponse, startMailroom } from '../harness/mailroom.ts'
import { setAwsCredentials, startSes } from '../harness/ses.ts'
import { startSqs } from '../harness/sqs.ts'

/** Asks again until the answer is as wanted. */
async function until(ask: () => Promise<ApiResponse>, isWanted: (email: { status: string }) => boolean) {
  for (const deadline = Date.now() + 20_000; ; await Bun.sleep(50)) {
    const { json } = await ask()
    if (isWanted(json) || Date.now() > deadline) return json
  }
}

test('an email goes out by Amazon SES, and its queue tells that it arrived', async () => {
  const restore = setAwsCredentials()
  const [ses, sqs] = [startSes(), startSqs()]
  sqs.longPolls = true
  ses.verifiesAtOnce = true
  const mailroom = await startMailroom({
    AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
    AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    MAILROOM_PROVIDER: 'ses',
    MAILROOM_SES_REGION: 'eu-west-1',
    MAILROOM_SES_CONFIGURATION_SET: 'mail',
    MAILROOM_SES_ENDPOINT: ses.url,
    MAILROOM_SES_QUEUE_URL: sqs.url,
  })
  try {
    const email = { from: 'hello@demo.test', to: ['you@friend.test'], subject: 'Hello', text: 'Hello' }
    const accepted = await mailroom.api('POST', '/v1/emails', email)
    expect(accepted.status).toBe(202)
    const { id } = accepted.json
    const read = () => mailroom.api('GET', `/v1/emails/${id}`)

    const sent = await until(read, ({ status }) => status === 'sent')
    expect(sent).toMatchObject({
      status: 'sent',
      provider: 'ses',
      provider_message_id: '0102018f-1-000000',
      wire_message_id: '0102018f-1-000000@eu-west-1.amazonses.com',
    })
    expect(ses.sent).toHaveLength(1)
    expect(ses.sent[0]).toMatchObject({
      from: 'hello@demo.test',
      to: ['you@friend.test'],
      tags: { 'mailroom-id': id },
    })
    const [, signed = ''] = /^DKIM-Signature:[\s\S]*?h=([^;]+);/m.exec(ses.sent[0]?.message.toString() ?? '') ?? []
    expect(signed.toLowerCase()).toContain('subject')
    expect(signed.toLowerCase()).not.toMatch(/message-id|date/)

    const timestamp = new Date().toISOString()
    const recipients = ['you@friend.test']
    const mail = { timestamp, messageId: '0102018f-1-000000', destination: recipients, tags: { 'mailroom-id': [id] } }
    const delivery = { timestamp, recipients, smtpResponse: '250 2.0.0 Ok' }
    sqs.put({ Type: 'Notification', Message: JSON.stringify({ eventType: 'Delivery', mail, delivery }) })
    sqs.release()
    expect(await until(read, ({ status }) => status === 'delivered')).toMatchObject({ status: 'delivered' })
    for (const deadline = Date.now() + 5000; sqs.waiting.size > 0 && Date.now() < deadline; ) await Bun.sleep(20)
    expect(sqs.waiting.size).toBe(0)
  } finally {
    await mailroom.stop()
    await Promise.all([ses.close(), sqs.close()])
    restore()
  }
}, 120_000)
