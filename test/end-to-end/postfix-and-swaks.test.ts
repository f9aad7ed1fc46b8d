import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { freePort } from '../../src/cli/private/process.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'
import { canStartPostfix, type Postfix, startPostfix } from '../harness/postfix.ts'
import { swaks } from '../harness/swaks.ts'
import { until } from '../harness/until.ts'
import { startUp, temporaryFolder, type UpProcess } from '../harness/up.ts'

/** `./mailroom up` with a real Postfix as its relay, which delivers everything back to Mailroom's own SMTP server. */
const folder = temporaryFolder()
let up: UpProcess
let postfix: Postfix | undefined

beforeAll(async () => {
  const smtpPort = freePort()
  postfix = canStartPostfix ? await startPostfix(smtpPort) : undefined
  up = await startUp(folder.path, [], {
    MAILROOM_SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
    ...(postfix && { MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: `smtp://127.0.0.1:${postfix.port}` }),
  })
}, 60_000)

afterAll(async () => {
  await up?.end()
  await postfix?.stop()
  folder.remove()
})

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape
async function api(method: string, path: string, body?: object): Promise<any> {
  const response = await fetchValidated(`${up.file.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${up.file.key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

async function messageWith(subject: string, inFolder = 'inbox') {
  const find = async () => {
    const { data } = await api('GET', `/v1/inbox?folder=${inFolder}`)
    return data.find((message: { subject: string }) => message.subject === subject)
  }
  const { id } = await until(find, { what: `"${subject}" in ${inFolder}`, details: () => postfix?.log() ?? '' })
  return api('GET', `/v1/inbox/${id}`)
}

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape
async function eventsOf(emailId: string, type: string, count: number): Promise<readonly any[]> {
  const find = async () => {
    const { events } = await api('GET', `/v1/emails/${emailId}`)
    const ofType = events.filter((event: { type: string }) => event.type === type)
    return ofType.length >= count && ofType
  }
  return until(find, { what: `${count} events ${type} of ${emailId}`, details: () => postfix?.log() ?? '' })
}

const smtpPort = () => Number(up.file.smtp.split(':')[1])

test.skipIf(!canStartPostfix)(
  'an email goes out through Postfix and comes back in with a valid signature',
  async () => {
    const attachment = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256))
    const accepted = await api('POST', '/v1/emails', {
      from: 'Demo <hello@demo.test>',
      to: 'anyone@demo.test',
      subject: 'Grüße aus dem Haus',
      text: '.\r\n.. dots, and a line of 2000: '.padEnd(2000, 'x'),
      html: '<p>Grüße</p>',
      attachments: [{ filename: 'Anhang.bin', content: attachment.toString('base64') }],
    })
    expect(accepted.status).toBe('queued')

    const message = await messageWith('Grüße aus dem Haus')
    expect(message.auth.dkim).toMatchObject({ result: 'pass', domain: 'demo.test', aligned: true })
    expect(message.auth.dmarc.result).toBe('pass')
    expect(message.scan).toBe('clean')
    const reversePath = expect.stringMatching(/^b\+[0-9a-z]{44}@mr-bounces\.demo\.test$/)
    expect(message.envelope).toMatchObject({ mail_from: reversePath, rcpt_to: 'anyone@demo.test' })
    expect(message.text.trimEnd()).toBe('.\n.. dots, and a line of 2000: '.padEnd(1999, 'x'))
    expect(message.message_id).toContain(accepted.message_id)

    const [described] = message.attachments
    const bytes = await fetchValidated(`${up.file.http}/v1/inbox/${message.id}/attachments/${described.id}`, {
      headers: { authorization: `Bearer ${up.file.key}` },
    })
    expect(Buffer.from(await bytes.arrayBuffer()).equals(attachment)).toBe(true)

    const email = await api('GET', `/v1/emails/${accepted.id}`)
    expect(email.recipients).toEqual([
      expect.objectContaining({ email: 'anyone@demo.test', status: 'sent', smtp_code: 250 }),
    ])
    expect(email.recipients[0].detail).toContain('queued as')
  },
)

test.skipIf(!canStartPostfix)('what Postfix cannot deliver comes back as a DSN for each recipient', async () => {
  const bounceLike = `b+${'0'.repeat(44)}@mail.demo.test`
  const { id } = await api('POST', '/v1/emails', {
    from: 'Demo <hello@demo.test>',
    to: ['someone@elsewhere.test', bounceLike],
    subject: 'To nobody',
    text: 'Hello',
  })
  const bounces = await eventsOf(id, 'bounced', 2)
  const told = (recipient: string) => bounces.find(bounce => bounce.recipient === recipient)
  expect(told('someone@elsewhere.test')).toMatchObject({
    source: 'dsn',
    smtp_code: 550,
    enhanced_code: '5.7.1',
    detail: expect.stringContaining('Relaying is denied'),
    bounce: { type: 'permanent', scope: 'infrastructure', suppressed: false },
    data: { action: 'failed', reporting_mta: 'relay.friend.test' },
  })
  expect(told(bounceLike)).toMatchObject({
    source: 'dsn',
    smtp_code: 550,
    enhanced_code: '5.1.1',
    bounce: { type: 'permanent', scope: 'recipient', suppressed: true },
  })
  expect((await api('GET', `/v1/emails/${id}`)).status).toBe('bounced')
})

test('a virus from swaks goes to quarantine with its name, and its attachment cannot be downloaded', async () => {
  const parts = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*']
  const file = join(folder.path, 'invoice.txt')
  await Bun.write(file, parts.join(''))
  const sent = await swaks(smtpPort(), [
    ...['--from', 'you@friend.test', '--to', 'hello@demo.test', '--header', 'Subject: Your invoice'],
    ...['--attach', `@${file}`],
  ])
  expect(sent).toMatchObject({ status: 0 })

  const message = await messageWith('Your invoice', 'quarantine')
  expect(message.scan).toBe('infected')
  const infected = message.attachments.find((attachment: { scan: string }) => attachment.scan === 'infected')
  expect(infected.scan_signature).toContain('Eicar')
  const { error } = await api('GET', `/v1/inbox/${message.id}/attachments/${infected.id}`)
  expect(error.code).toBe('attachment_infected')
})

test('swaks is refused for a foreign domain, and the session goes on', async () => {
  const refused = await swaks(smtpPort(), ['--from', 'you@friend.test', '--to', 'someone@elsewhere.test'])
  expect(refused.status).not.toBe(0)
  expect(refused.transcript).toMatch(/^<\*\* 550 5\.7\.1 /m)
  const taken = await swaks(smtpPort(), [
    ...['--from', 'you@friend.test', '--to', 'someone@elsewhere.test,hello@demo.test'],
    ...['--header', 'Subject: One of two'],
  ])
  expect(taken).toMatchObject({ status: 0 })
  expect((await messageWith('One of two')).envelope.rcpt_to).toBe('hello@demo.test')
})
