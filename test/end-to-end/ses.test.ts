import { expect, test } from 'bun:test'
import { startMailroom } from '../harness/mailroom.ts'
import { setAwsCredentials, startSes } from '../harness/ses.ts'
import { startSqs } from '../harness/sqs.ts'
import { until } from '../harness/until.ts'

test('an email goes out through Amazon SES, and its event queue reports the delivery', async () => {
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
    const emailWith = (status: string) =>
      until(
        async () => {
          const { json } = await mailroom.api('GET', `/v1/emails/${id}`)
          return json.status === status ? json : undefined
        },
        { what: status },
      )

    expect(await emailWith('sent')).toMatchObject({
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
    await emailWith('delivered')
    await until(() => sqs.waiting.size === 0)
  } finally {
    await mailroom.stop()
    await Promise.all([ses.close(), sqs.close()])
    restore()
  }
}, 120_000)
