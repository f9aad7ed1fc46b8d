import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createKey, revokeKey } from '../../../../src/accounts/keys/keys.ts'
import { changeOrganization } from '../../../../src/accounts/organizations/organizations.ts'
import { scopes } from '../../../../src/api/scope.ts'
import { systemClock } from '../../../../src/base/clock.ts'
import { inTransaction } from '../../../../src/base/database/database.ts'
import type { Id } from '../../../../src/base/ids.ts'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { consumeQuota } from '../../../harness/quota.ts'
import { SmtpClient } from '../../../harness/smtp-client.ts'
import {
  base64,
  loggedIn,
  mime,
  plain,
  queuedId,
  type SubmissionSettings,
  secureClient,
  submissionWithTls,
  submitMessage,
} from '../../../harness/submission.ts'
import { until } from '../../../harness/until.ts'
import { makeDomain, suppress } from '../../../sending/fixtures.ts'

let tls: SubmissionSettings
let mailroom: Mailroom

const maxFailures = 12

beforeAll(async () => {
  tls = submissionWithTls('mail.demo.test')
  mailroom = await startMailroom({ ...tls.settings, MAILROOM_AUTH_FAILURES_PER_MINUTE: String(maxFailures) })
}, 60_000)
afterAll(async () => {
  await mailroom?.stop()
  tls?.remove()
}, 60_000)

const organizationId = () => mailroom.demo.organization_id as Id<'org'>
const brandId = () => mailroom.demo.brand_id as Id<'brd'>

function newKey(options: { readonly brandId?: Id<'brd'>; readonly scopes?: typeof scopes } = {}) {
  const key = { organizationId: organizationId(), brandId: options.brandId ?? null, name: 'test', expiresAt: null }
  const usual = scopes.filter(scope => !scope.startsWith('members:'))
  return createKey(mailroom.database.db, { ...key, scopes: options.scopes ?? usual }, systemClock)
}

const plainMail = ['From: hello@demo.test', 'To: bob@friend.test', 'Subject: Hi']

describe('before the first message', () => {
  test('EHLO lists AUTH only under TLS', async () => {
    const client = await SmtpClient.connect(mailroom.submission)
    expect(await client.reply()).toBe('220 mail.demo.test ESMTP')
    const common = '250-mail.demo.test\n250-PIPELINING\n250-8BITMIME\n250-ENHANCEDSTATUSCODES'
    expect(await client.command('EHLO app.test')).toBe(`${common}\n250-STARTTLS\n250 SIZE 16777216`)
    await client.command('STARTTLS')
    await client.upgrade()
    expect(await client.command('EHLO app.test')).toBe(`${common}\n250-AUTH PLAIN LOGIN\n250 SIZE 16777216`)
    await client.command(`AUTH PLAIN ${plain(mailroom.key)}`)
    expect(await client.command('EHLO app.test')).toBe(`${common}\n250 SIZE 16777216`)
    client.hangUp()
  })

  test('without TLS nobody logs in or sends', async () => {
    const client = await SmtpClient.ready(mailroom.submission)
    expect(
      await client.commands(`AUTH PLAIN ${plain(mailroom.key)}`, 'AUTH LOGIN', 'MAIL FROM:<hello@demo.test>'),
    ).toEqual([
      '538 5.7.11 Encryption required for requested authentication mechanism',
      '538 5.7.11 Encryption required for requested authentication mechanism',
      '530 5.7.0 Must issue a STARTTLS command first',
    ])
    client.hangUp()
  })

  test('a login before STARTTLS that was pipelined has no effect after it', async () => {
    const client = await SmtpClient.ready(mailroom.submission)
    client.send(`STARTTLS\r\nEHLO evil.test\r\nAUTH PLAIN ${plain(mailroom.key)}\r\n`)
    expect(await client.reply()).toBe('220 2.0.0 Ready to start TLS')
    await client.upgrade()
    expect(await client.command('MAIL FROM:<hello@demo.test>')).toStartWith('503 5.5.1 ')
    await client.command('EHLO app.test')
    expect(await client.command('MAIL FROM:<hello@demo.test>')).toBe('530 5.7.0 Authentication required')
    client.hangUp()
  })

  test('with TLS from the first byte a session is the same', async () => {
    const client = await SmtpClient.connect(mailroom.submissions)
    await client.upgrade()
    expect(await client.reply()).toBe('220 mail.demo.test ESMTP')
    expect(await client.command('EHLO app.test')).toContain('250-AUTH PLAIN LOGIN')
    expect(await client.command(`AUTH PLAIN ${plain(mailroom.key)}`)).toBe('235 2.7.0 Authentication successful')
    const id = queuedId(await submitMessage(client, { message: mime(plainMail) }))
    const content = await mailroom.api('GET', `/v1/emails/${id}/content`)
    expect(content.json.headers[0]).toMatchObject({
      name: 'Received',
      value: expect.stringContaining('with ESMTPSA id'),
    })
    client.hangUp()
  })
})

describe('AUTH', () => {
  test('goes through each dialog', async () => {
    const dialogs = [
      [`AUTH PLAIN ${plain(mailroom.key)}`],
      ['AUTH PLAIN', plain(mailroom.key)],
      ['auth plain', base64(`someone\0anybody\0${mailroom.key}`)],
      ['AUTH LOGIN', base64('user'), base64(mailroom.key)],
      [`AUTH LOGIN ${base64('user')}`, base64(mailroom.key)],
    ]
    for (const dialog of dialogs) {
      const client = await secureClient(mailroom.submission)
      const replies = await client.commands(...dialog)
      expect(replies.at(-1)).toBe('235 2.7.0 Authentication successful')
      for (const prompt of replies.slice(0, -1)) expect(prompt).toMatch(/^334(?: VXNlcm5hbWU6| UGFzc3dvcmQ6)?$/)
      expect(await client.command('AUTH LOGIN')).toBe('503 5.5.1 Already authenticated')
      client.hangUp()
    }
  })

  test('refuses what is not a login, without counting it as a failed one', async () => {
    const client = await secureClient(mailroom.submission)
    expect(
      await client.commands(
        'AUTH',
        'AUTH CRAM-MD5',
        'AUTH PLAIN a b',
        'AUTH PLAIN ***',
        `AUTH PLAIN ${base64('no nul')}`,
        'AUTH LOGIN',
        '*',
        'NOOP',
      ),
    ).toEqual([
      '501 5.5.4 A parameter is malformed',
      '504 5.5.4 The authentication mechanism is not supported; use PLAIN or LOGIN',
      '501 5.5.4 A parameter is malformed',
      '501 5.5.2 The authentication response cannot be decoded',
      '501 5.5.2 The authentication response cannot be decoded',
      '334 VXNlcm5hbWU6',
      '501 5.7.0 Authentication canceled',
      '250 2.0.0 OK',
    ])
    client.hangUp()
  })

  test('a key that may not send is refused with the reason', async () => {
    const { key } = await newKey({ scopes: ['email:read'] })
    const client = await secureClient(mailroom.submission)
    expect(await client.command(`AUTH PLAIN ${plain(key)}`)).toBe('535 5.7.8 This API key lacks the scope email:send.')
    client.hangUp()
  })

  test('the third wrong password ends the session, and so many from one address end each further one, as over HTTP', async () => {
    const wrong = `AUTH PLAIN ${plain('mrk_nobody')}`
    const client = await secureClient(mailroom.submission)
    // The API's ellipsis is not ASCII.
    const malformed = '535 5.7.8 The API key "mrk_nobo " is malformed.'
    expect(await client.commands(wrong, wrong)).toEqual([malformed, malformed])
    expect(await client.command(wrong)).toBe('421 4.7.0 Too many failed logins')
    await client.rest()
    let refused = ''
    for (let attempt = 0; attempt < 50 && !refused.startsWith('421'); attempt++) {
      const another = await secureClient(mailroom.submission)
      refused = await another.command(wrong)
      another.hangUp()
    }
    expect(refused).toBe('421 4.7.0 Too many failed logins')
    const overHttp = await fetch(`${mailroom.http}/v1/emails`, { headers: { authorization: 'Bearer mrk_nobody' } })
    expect(overHttp.status).toBe(429)
    // A valid key still works from there.
    const valid = await loggedIn(mailroom.submission, mailroom.key)
    valid.hangUp()
  })

  test('a revoked key ends the session at the next command', async () => {
    for (const command of ['MAIL FROM:<hello@demo.test>', 'RCPT TO:<bob@friend.test>', 'DATA']) {
      const { id, key } = await newKey()
      const client = await loggedIn(mailroom.submission, key)
      const before = ['MAIL FROM:<hello@demo.test>', 'RCPT TO:<bob@friend.test>', 'DATA']
      for (const earlier of before.slice(0, before.indexOf(command)))
        expect(await client.command(earlier)).toStartWith('250 ')
      await revokeKey(mailroom.database.db, id, systemClock)
      expect(await client.command(command)).toBe(`421 4.7.0 The API key ${id} was revoked.`)
      await client.rest()
    }
  })

  test('a key that is revoked while its message arrives sends nothing', async () => {
    const { id, key } = await newKey()
    const client = await loggedIn(mailroom.submission, key)
    await client.commands('MAIL FROM:<hello@demo.test>', 'RCPT TO:<bob@friend.test>', 'DATA')
    client.send(mime(plainMail))
    await revokeKey(mailroom.database.db, id, systemClock)
    // So long the look-up for DATA is good for the message as well.
    await Bun.sleep(1100)
    expect(await client.command('.')).toBe(`421 4.7.0 The API key ${id} was revoked.`)
    await client.rest()
  })
})

describe('the checks of the API', () => {
  /** The reply over SMTP, and the error of POST /v1/emails, for the same From. */
  async function refusals(from: string, key = mailroom.key) {
    const client = await loggedIn(mailroom.submission, key)
    const reply = await submitMessage(client, { message: mime([`From: ${from}`, 'To: bob@friend.test', 'Subject: x']) })
    client.hangUp()
    const response = await fetch(`${mailroom.http}/v1/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to: 'bob@friend.test', subject: 'x', text: 'x' }),
    })
    const { error } = (await response.json()) as { error: { message: string } }
    return { reply, message: error.message }
  }

  test('refuse a From that is foreign, not ready, or of another brand, in the words of the API', async () => {
    const { db } = mailroom.database
    await makeDomain(db, organizationId(), 'pending.test', 'pending')
    const other = await makeDomain(db, organizationId(), 'other-brand.test')
    const restricted = await newKey({ brandId: brandId() })
    for (const [from, key] of [
      ['a@foreign.test', mailroom.key],
      ['a@pending.test', mailroom.key],
      ['a@other-brand.test', restricted.key],
      ['not an address', mailroom.key],
      ['a@demo.test, b@demo.test', mailroom.key],
    ] as const) {
      const { reply, message } = await refusals(from, key)
      expect(reply).toBe(`550 5.7.1 ${message}`)
    }
    expect(other.brandId).not.toBe(brandId())
  })

  test.each([
    [['To: bob@friend.test'], '550 5.7.1 from: the message has no From fields; it must have one.'],
    [['From: a@demo.test', 'From: a@foreign.test'], '550 5.7.1 from: the message has 2 From fields; it must have one.'],
    [
      ['From: a@demo.test', 'From : a@foreign.test'],
      '550 5.7.1 from: the message has 2 From fields; it must have one.',
    ],
    [
      ['From: a@demo.test', 'Sender: a@foreign.test'],
      '550 5.7.1 sender: it must be one address of demo.test, the domain of From, or absent.',
    ],
    [
      ['From: a@demo.test', 'Resent-From: a@foreign.test'],
      '550 5.7.1 resent-from: it must be one address of demo.test, the domain of From, or absent.',
    ],
    [
      ['From: a@demo.test', ' \t', 'From: a@foreign.test'],
      '550 5.7.1 from: the message has 2 From fields; it must have one.',
    ],
    [
      ['From: a@demo.test', 'no field', 'From: a@foreign.test'],
      '554 5.6.0 message: line 2 of its header is not a header field.',
    ],
    [['From: a@demo.test', 'X: a\0b'], '554 5.6.0 message: line 2 of its header contains NUL.'],
    [
      ['From: a@demo.test', `X: ${'x'.repeat(1000)}`],
      '554 5.6.0 message: line 2 of its header has more than 998 octets.',
    ],
    [
      ['From: a@demo.test', 'X-Mailroom-Tag: nothing'],
      '554 5.6.0 X-Mailroom-Tag: "nothing" is not of the form name=value.',
    ],
    [
      ['From: a@demo.test', 'X-Mailroom-Idempotency-Key: short'],
      '554 5.6.0 The Idempotency-Key has 5 characters; expected 8 to 255.',
    ],
    [
      ['From: a@demo.test', ...Array.from({ length: 50 }, () => 'Received: by x.test; Thu, 1 Jan 2026 00:00:00 +0000')],
      '554 5.4.6 The message has gone through too many servers',
    ],
  ])('refuse the header %j', async (header, reply) => {
    const client = await loggedIn(mailroom.submission, mailroom.key)
    expect(await submitMessage(client, { message: mime(header) })).toBe(reply)
    client.hangUp()
  })

  test('From may have a name, an encoded one, or a comment; Sender an address of its domain; MAIL FROM any', async () => {
    const client = await loggedIn(mailroom.submission, mailroom.key)
    const froms = {
      'hello@demo.test (Cron Daemon)': 'Cron Daemon <hello@demo.test>',
      '=?utf-8?Q?Gr=C3=BC=C3=9Fe?= <hello@demo.test>': 'Grüße <hello@demo.test>',
      '"Doe, Jane" <hello@demo.test>': '"Doe, Jane" <hello@demo.test>',
    }
    for (const [from, shown] of Object.entries(froms)) {
      const message = mime([`From: ${from}`, 'Sender: other@demo.test', 'Subject: x'])
      const id = queuedId(await submitMessage(client, { from: 'root@web1.internal', message }))
      expect((await mailroom.api('GET', `/v1/emails/${id}`)).json.from).toBe(shown)
    }
    expect(queuedId(await submitMessage(client, { from: '', message: mime(plainMail) }))).toStartWith('eml_')
    client.hangUp()
  })

  test('a suppressed recipient is refused at RCPT where the key has one brand, else marked, and the last one refused', async () => {
    const organization = { organizationId: organizationId(), brandId: brandId() } as Parameters<typeof suppress>[1]
    await suppress(mailroom.database.db, organization, 'gone@friend.test')
    const restricted = await loggedIn(mailroom.submission, (await newKey({ brandId: brandId() })).key)
    await restricted.command('MAIL FROM:<hello@demo.test>')
    expect(await restricted.commands('RCPT TO:<Gone@Friend.test>', 'RCPT TO:<bob@friend.test>')).toEqual([
      '550 5.1.1 Gone@friend.test is on the suppression list of the brand',
      '250 2.1.5 Go on',
    ])
    restricted.hangUp()

    const client = await loggedIn(mailroom.submission, mailroom.key)
    const to = ['gone@friend.test', 'bob@friend.test']
    const id = queuedId(await submitMessage(client, { to, message: mime(plainMail) }))
    const { recipients, events } = (await mailroom.api('GET', `/v1/emails/${id}`)).json
    expect(recipients).toEqual([
      expect.objectContaining({ email: 'bob@friend.test', type: 'to' }),
      expect.objectContaining({ email: 'gone@friend.test', type: 'bcc', status: 'suppressed' }),
    ])
    expect(events.slice(0, 2)).toEqual([
      expect.objectContaining({ type: 'queued', source: 'smtp' }),
      expect.objectContaining({ type: 'suppressed', recipient: 'gone@friend.test', source: 'smtp' }),
    ])
    expect(await submitMessage(client, { to: ['gone@friend.test'], message: mime(plainMail) })).toBe(
      '550 5.1.1 to: gone@friend.test: on the suppression list of the brand, and no recipient is left.',
    )
    client.hangUp()
  })

  test('a used-up plan is 452 4.7.1, and the 51st recipient 452 4.5.3', async () => {
    const { db } = mailroom.database
    const client = await loggedIn(mailroom.submission, mailroom.key)
    await client.command('MAIL FROM:<hello@demo.test>')
    const replies = await client.commands(...Array.from({ length: 51 }, (_, i) => `RCPT TO:<r${i}@friend.test>`))
    expect(new Set(replies.slice(0, 50))).toEqual(new Set(['250 2.1.5 Go on']))
    expect(replies[50]).toBe('452 4.5.3 Too many recipients, send the rest in another transaction')
    await client.command('RSET')
    await changeOrganization(db, systemClock, organizationId(), { plan: 'free' })
    try {
      await inTransaction(db, tx =>
        consumeQuota(tx, [{ organizationId: organizationId(), plan: 'unlimited', count: 3000 }], systemClock.now()),
      )
      expect(await submitMessage(client, { message: mime(plainMail) })).toBe(
        '452 4.7.1 The plan includes no more emails this calendar month (UTC).',
      )
    } finally {
      await changeOrganization(db, systemClock, organizationId(), { plan: 'unlimited' })
    }
    client.hangUp()
  })

  test('too many messages in a minute are 450 4.7.1', async () => {
    const limited = await mailroom.startSecondProcess({ MAILROOM_RATE_LIMIT_PER_MINUTE: '2' })
    const client = await loggedIn(limited.submission, mailroom.key)
    const replies: string[] = []
    for (let i = 0; i < 5 && !replies.at(-1)?.startsWith('450'); i++)
      replies.push(await submitMessage(client, { message: mime(plainMail) }))
    expect(replies.at(-1)).toBe('450 4.7.1 The organization may make 2 requests per minute.')
    client.hangUp()
    await limited.kill('SIGTERM')
  })

  test('what is too large is refused before and after it is sent', async () => {
    const client = await loggedIn(mailroom.submission, mailroom.key)
    expect(await client.command('MAIL FROM:<hello@demo.test> SIZE=16777217')).toBe('552 5.3.4 The message is too large')
    expect(
      await submitMessage(client, { message: mime(plainMail, 'x'.repeat(76).concat('\r\n').repeat(216_000)) }),
    ).toBe('552 5.3.4 The message is too large')
    const file = ['--b', 'Content-Type: application/x', 'Content-Transfer-Encoding: base64', '', '']
    const large = Buffer.alloc(10 * 1024 * 1024 + 1)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n')
    const multipart = [...plainMail, 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b']
    expect(await submitMessage(client, { message: mime(multipart, `${file.join('\r\n')}${large}\r\n--b--\r\n`) })).toBe(
      '552 5.3.4 attachments: 10485761 bytes are more than the 10485760 that the files of one email may have.',
    )
    const many = Array.from(
      { length: 21 },
      (_, i) => `--b\r\nContent-Disposition: attachment; filename=${i}\r\n\r\nx\r\n`,
    )
    expect(await submitMessage(client, { message: mime(multipart, `${many.join('')}--b--\r\n`) })).toBe(
      '554 5.6.0 attachments: 21 files are more than the 20 that one email may have.',
    )
    client.hangUp()
  })
})

describe('what is accepted', () => {
  test('does what its X-Mailroom fields say, and stands in the request log', async () => {
    const client = await loggedIn(mailroom.submission, mailroom.key)
    const at = new Date(Date.now() + 86_400_000).toISOString()
    const header = [
      ...plainMail,
      'Bcc: secret@friend.test',
      'X-Mailroom-Tag: kind=receipt',
      'X-Mailroom-Tag: =?utf-8?Q?gr=C3=BC=C3=9Fe=3Dja?=',
      'X-Mailroom-Metadata: order=1042=x',
      `X-Mailroom-Scheduled-At: ${at}`,
      'X-Mailroom-Id: eml_forged',
      'Message-ID: <mine@app.test>',
    ]
    const to = ['bob@friend.test', 'secret@friend.test']
    const id = queuedId(await submitMessage(client, { to, message: mime(header) }))
    const { json } = await mailroom.api('GET', `/v1/emails/${id}`)
    expect(json).toMatchObject({
      status: 'scheduled',
      message_id: 'mine@app.test',
      subject: 'Hi',
      to: ['bob@friend.test'],
      bcc: ['secret@friend.test'],
      scheduled_at: expect.stringContaining(at.slice(0, -1)),
      tags: [
        { name: 'kind', value: 'receipt' },
        { name: 'grüße', value: 'ja' },
      ],
      metadata: { order: '1042=x' },
    })
    expect(json.events[0]).toMatchObject({ type: 'scheduled', source: 'smtp' })
    const { headers } = (await mailroom.api('GET', `/v1/emails/${id}/content`)).json
    const names = headers.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['Received', 'X-Mailroom-Id', 'From', 'To', 'Subject', 'Message-ID'])
    expect(headers[1].value).toBe(id)
    const row = await until(async () => {
      const { data } = (await mailroom.api('GET', '/v1/requests?method=SMTP')).json
      return data.find((request: { email_id: string }) => request.email_id === id)
    })
    expect(row).toMatchObject({
      method: 'SMTP',
      path: 'submission',
      status: 202,
      ip: '127.0.0.1',
      user_agent: 'app.test',
    })
    client.hangUp()
  })

  test('with an idempotency key is accepted once, whatever Date, Message-ID and boundary it comes with again', async () => {
    const client = await loggedIn(mailroom.submission, mailroom.key)
    const key = `X-Mailroom-Idempotency-Key: order-${Date.now()}`
    const attempt = (n: number, text = 'Hello') =>
      submitMessage(client, {
        message: mime(
          [
            ...plainMail,
            key,
            `Date: Thu, 0${n} Jan 2026 00:00:00 +0000`,
            `Message-ID: <${n}@app.test>`,
            'MIME-Version: 1.0',
            `Content-Type: multipart/mixed; boundary=b${n}`,
          ],
          `--b${n}\r\n\r\n${text}\r\n--b${n}--\r\n`,
        ),
      })
    const first = queuedId(await attempt(1))
    expect(queuedId(await attempt(2))).toBe(first)
    expect(await attempt(3, 'Something else')).toBe('554 5.7.1 This Idempotency-Key was used for another request.')
    client.hangUp()
  })

  test('keeps its attachments, which are read as those of any email', async () => {
    const client = await loggedIn(mailroom.submission, mailroom.key)
    const picture = Buffer.from(Array.from({ length: 500 }, (_, i) => i % 256))
    const parts = [
      '--b',
      'Content-Type: multipart/related; boundary=r',
      '',
      '--r',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<img src="cid:pic@app"> Grüße',
      '--r',
      'Content-Type: image/png; name=pic.png',
      'Content-ID: <pic@app>',
      'Content-Disposition: inline; filename=pic.png',
      'Content-Transfer-Encoding: base64',
      '',
      picture.toString('base64'),
      '--r--',
      '--b',
      'Content-Type: text/plain; name="notes.txt"',
      'Content-Disposition: attachment; filename="notes.txt"',
      '',
      'notes',
      '--b--',
      '',
    ]
    const header = [...plainMail, 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b']
    const id = queuedId(await submitMessage(client, { message: Buffer.from(mime(header, parts.join('\r\n'))) }))
    const content = (await mailroom.api('GET', `/v1/emails/${id}/content`)).json
    expect(content.html).toContain('Grüße')
    expect(content.attachments).toMatchObject([
      { filename: 'pic.png', content_type: 'image/png', size: 500, content_id: 'pic@app' },
      { filename: 'notes.txt', content_type: 'text/plain', size: 5, content_id: null },
    ])
    for (const [i, bytes] of [picture, Buffer.from('notes')].entries()) {
      const response = await fetch(`${mailroom.http}/v1/emails/${id}/attachments/${content.attachments[i].id}`, {
        headers: { authorization: `Bearer ${mailroom.key}` },
      })
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
    }
    client.hangUp()
  })
})

test('SIGTERM ends idle clients at once, and answers a message that has arrived', async () => {
  const ending = await mailroom.startSecondProcess()
  const idle = await loggedIn(ending.submission, mailroom.key)
  const sending = await loggedIn(ending.submission, mailroom.key)
  await sending.commands('MAIL FROM:<hello@demo.test>', 'RCPT TO:<bob@friend.test>', 'DATA')
  sending.send(`${mime(plainMail)}.\r\n`)
  const ended = ending.kill('SIGTERM')
  queuedId(await sending.reply())
  expect(await idle.rest()).toContain('421 4.3.2 The server is shutting down, try again later')
  expect(await ended).toBe(0)
}, 60_000)
