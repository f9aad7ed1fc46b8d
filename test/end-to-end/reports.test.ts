import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { acceptedMessageId, readMessage, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'

/** Reports of a relay and of recipients, received over SMTP by a Mailroom process. */
let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  relay = await startScriptedRelay()
  mailroom = await startMailroom({ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url })
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

const fixture = (name: string) => readFileSync(join(import.meta.dir, `../fixtures/reports/${name}.eml`))

/** Sends an email, and waits until the relay has accepted it; with the reverse-path that the relay received. */
async function sent(
  to: string,
): Promise<{ readonly id: string; readonly messageId: string; readonly reversePath: string }> {
  const fields = { from: 'Demo <hello@demo.test>', to, subject: 'Hello', text: 'Hello' }
  const { status, json } = await mailroom.api('POST', '/v1/emails', fields)
  expect(status).toBe(202)
  const relayed = await until(() => groupByEmail(relay.accepted).get(json.id)?.[0], { what: `${json.id} at the relay` })
  await until(async () => (await emailOf(json.id)).status === 'sent', { what: `${json.id} sent` })
  return { id: json.id, messageId: json.message_id, reversePath: relayed.from }
}

const emailOf = async (id: string) => (await mailroom.api('GET', `/v1/emails/${id}`)).json

test('a bounce comes back to the reverse-path, and the recipient is suppressed', async () => {
  const { id, reversePath } = await sent('bob@dest.example')
  expect(reversePath).toMatch(/^b\+[0-9a-z]{44}@(?:mail|mr-bounces)\.demo\.test$/)
  const report = { from: '', to: [reversePath] }
  expect(await sendMail(mailroom.smtp, fixture('postfix'), report)).toStartWith('250 ')
  expect(await sendMail(mailroom.smtp, fixture('postfix'), report)).toStartWith('250 ')
  const email = await emailOf(id)
  expect(email).toMatchObject({ status: 'bounced', recipients: [{ status: 'bounced', enhanced_code: '5.1.1' }] })
  expect(email.events.filter((event: { type: string }) => event.type === 'bounced')).toMatchObject([
    {
      source: 'dsn',
      recipient: 'bob@dest.example',
      bounce: { type: 'permanent', scope: 'recipient', suppressed: true },
    },
  ])
  const { status, json } = await mailroom.api('POST', '/v1/emails', {
    from: 'hello@demo.test',
    to: 'Bob@dest.example',
    subject: 'Again',
    text: 'Again',
  })
  expect([status, json.error.code]).toEqual([422, 'recipient_suppressed'])
}, 30_000)

test('a forged reverse-path is refused, a person gets an explanation, an auto-reply is ignored', async () => {
  const { id, reversePath } = await sent('ann@dest.example')
  const forged = reversePath.replace(
    /^(b\+.{30})(.)/,
    (_, start: string, digit: string) => start + (digit === '0' ? '1' : '0'),
  )
  expect(await sendMail(mailroom.smtp, fixture('postfix'), { from: '', to: [forged] })).toStartWith('550 5.1.1 ')
  const person = { from: 'ann@dest.example', to: [reversePath] }
  expect(await sendMail(mailroom.smtp, fixture('none-person-quotes-bounce'), person)).toStartWith('550 5.7.1 ')
  expect(await sendMail(mailroom.smtp, fixture('auto-rfc3834'), { from: '', to: [reversePath] })).toStartWith('250 ')
  expect((await emailOf(id)).events.map((event: { type: string }) => event.type)).toEqual(['queued', 'sent'])
}, 30_000)

/** Reports over SMTP with what their email's last event and the suppression list say afterwards. */
const readings: readonly (readonly [
  fixture: string,
  type: string,
  bounce: string,
  detail: string,
  isSuppressed: boolean,
])[] = [
  ['exim-label-recipient', 'bounced', 'permanent recipient', 'User unknown', true],
  ['imail-label-recipient', 'bounced', 'permanent recipient', 'unknown user', true],
  ['tencent-label-recipient', 'bounced', 'permanent recipient', 'not found', true],
  ['sendmail-relay-spf', 'bounced', 'permanent infrastructure', 'SPF check failed', false],
  ['sendmail-relay-authentication', 'bounced', 'permanent infrastructure', 'must authenticate', false],
  ['sendmail-relay-header', 'bounced', 'permanent infrastructure', 'From: headers', false],
  ['sendmail-relay-attack', 'bounced', 'permanent infrastructure', 'Directory harvest attack', false],
  ['exim-sender-callout', 'bounced', 'permanent infrastructure', 'Sender verify failed', false],
  ['qmail-words-in-address', 'bounced', 'transient infrastructure', 'timed out', false],
  ['netease-unknown-or-full', 'bounced', 'undetermined recipient', 'mailbox full', false],
  ['postfix-antispam-host', 'bounced', 'permanent recipient', 'User unknown', true],
  ['sendmail-too-many-errors', 'bounced', 'permanent recipient', 'User unknown', true],
  ['microsoft-365-headers', 'bounced', 'permanent recipient', 'RecipientNotFound', true],
  ['exim-deactivated-mailbox', 'bounced', 'permanent recipient', 'deactivated mailbox', true],
  ['powermta-no-mail-box', 'bounced', 'permanent recipient', 'No mail box', true],
  ['communigate-not-active', 'bounced', 'permanent recipient', 'not an active address', true],
  ['aliyun-user-not-exist', 'bounced', 'permanent recipient', 'User not exist', true],
  ['gmail-receives-no-email', 'bounced', 'undetermined recipient', 'receive email', false],
  ['domino-japanese', 'bounced', 'permanent recipient', '登録されていません', true],
  ['notes-japanese-undeclared', 'bounced', 'permanent recipient', '存在しません', true],
  ['notes-japanese-html', 'bounced', 'transient recipient', '一杯', false],
  ['exim-without-from', 'bounced', 'permanent recipient', 'no such mailbox', true],
  ['zimbra-unworded', 'bounced', 'undetermined recipient', 'for the last time', false],
  ['communigate-delayed', 'delayed', 'null', 'try again later', false],
  ['none-null-sender-vacation', 'sent', 'undetermined recipient', 'I am away', false],
  ['none-null-sender-challenge', 'sent', 'undetermined recipient', 'confirm', false],
  ['none-quarantine-notice', 'sent', 'undetermined recipient', 'held for review', false],
]

test('reports of each class come over SMTP to events and suppressions', async () => {
  const suppressed = async () => {
    const { json } = await mailroom.api('GET', '/v1/suppressions?limit=100')
    return json.data.map(({ email }: { email: string }) => email)
  }
  for (const [name, type, bounce, detail, isSuppressed] of readings) {
    const recipient = `${name}@dest.example`
    const { id, reversePath } = await sent(recipient)
    // As it comes from the network: Return-Path is added at delivery (RFC 5321 §4.4).
    const report = fixture(name)
      .toString('latin1')
      .replace(/^Return-Path: .*\r\n/, '')
    expect(await sendMail(mailroom.smtp, report, { from: '', to: [reversePath] })).toStartWith('250 ')
    const event = (await emailOf(id)).events.at(-1)
    const { type: bounceType, scope } = event.bounce ?? {}
    expect([name, event.type, event.bounce ? `${bounceType} ${scope}` : 'null', event.detail]).toEqual([
      name,
      type,
      bounce,
      expect.stringContaining(detail),
    ])
    expect([name, (await suppressed()).includes(recipient)]).toEqual([name, isSuppressed])
  }
}, 120_000)

test('a reply counts as one, an auto-reply in the same thread is marked and does not', async () => {
  const { id, messageId } = await sent('cy@dest.example')
  const answer = (more: readonly string[]) =>
    ['From: Cy <cy@dest.example>', 'To: hello@demo.test', 'Subject: Re: Hello', ...more, '', 'Yes.', ''].join('\r\n')
  const absent = answer([`In-Reply-To: <${messageId}>`, 'X-Autoreply: yes', 'Message-ID: <away@dest.example>'])
  const chained = answer([`References: <${messageId}> <other@dest.example>`, 'Message-ID: <yes@dest.example>'])
  const read = async (text: string) => readMessage(mailroom, acceptedMessageId(await sendMail(mailroom.smtp, text)))
  expect(await read(absent)).toMatchObject({ folder: 'inbox', folder_reason: 'auto_reply', in_reply_to_email_id: null })
  const reply = await read(chained)
  expect(reply).toMatchObject({ folder_reason: 'accepted', in_reply_to_email_id: id })
  const email = await emailOf(id)
  expect(email.replies).toEqual([reply.id])
  expect(email.events.filter((event: { type: string }) => event.type === 'replied')).toHaveLength(1)
}, 30_000)
