import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { publishAt } from '../../domains/fixtures.ts'
import { messageOf, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

async function read(message: Buffer | string, query = '', more = {}) {
  const id = await inbox.deliver(message, `hello@${us.domain}`, more)
  const { status, json } = await inbox.server.call('GET', `/v1/inbox/${id}${query}`)
  expect(status).toBe(200)
  return json
}

test('shows a whole message', async () => {
  publishAt(inbox.dns, { type: 'TXT', name: 'sender.example', value: 'v=spf1 ip4:192.0.2.7 -all', priority: null })
  const message = Buffer.from(
    [
      'Received: from a by b; Sat, 31 Jan 2026 08:14:00 +0000',
      'received: from c by d; Sat, 31 Jan 2026 08:13:00 +0000',
      'From: "Ann, of Sales" <Ann@Sender.Example>',
      `To: Bob <bob@${us.domain}>, undisclosed:;`,
      'Cc: =?utf-8?b?SsO8cmdlbg==?= <j@x.example>',
      'Reply-To: <answers@sender.example>',
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'Date: Sat, 31 Jan 2026 09:15:00 +0100',
      'Message-ID: <whole@sender.example>',
      'In-Reply-To: <first@x.example>',
      'References: <zero@x.example>\r\n <first@x.example>',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: multipart/alternative; boundary=c',
      '',
      '--c',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Gr=FC=DFe!',
      '',
      'On Monday Bob wrote:',
      '> hi',
      '--c',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p onclick="x()">Grüße!</p><script>alert(1)</script>',
      '--c--',
      '--b',
      'Content-Type: image/png; name="a.png"',
      'Content-ID: <pic@x>',
      'Content-Disposition: inline',
      'Content-Transfer-Encoding: base64',
      '',
      'iVBORw==',
      '--b--',
      '',
    ].join('\r\n'),
  )
  const tls = 'TLSv1.3 TLS_AES_256_GCM_SHA384'
  const shown = await read(message, '', { mailFrom: 'ann@sender.example', remoteIp: '192.0.2.7', tls })
  const check = { result: 'none', domain: null, aligned: null, detail: expect.anything() }
  expect(shown).toEqual({
    id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
    brand_id: us.brandId,
    folder: 'inbox',
    mailbox_id: us.mailboxId,
    address: `hello@${us.domain}`,
    from: { address: 'Ann@sender.example', name: 'Ann, of Sales' },
    to: [{ address: `bob@${us.domain}`, name: 'Bob' }],
    cc: [{ address: 'j@x.example', name: 'Jürgen' }],
    reply_to: [{ address: 'answers@sender.example', name: '' }],
    subject: 'Grüße',
    preview: expect.stringContaining('Grüße!'),
    purged_at: null,
    attachments_purged_at: null,
    starred: false,
    read: true,
    received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    size: message.length,
    attachment_count: 1,
    message_id: 'whole@sender.example',
    thread_id: expect.any(String),
    in_reply_to_email_id: null,
    scan: 'clean',
    date: '2026-01-31T08:15:00.000000Z',
    text: expect.stringContaining('Grüße!\n\nOn Monday Bob wrote:\n> hi'),
    html: '<p>Grüße!</p>',
    reply_text: 'Grüße!',
    headers: expect.any(Array),
    in_reply_to: 'first@x.example',
    references: ['zero@x.example', 'first@x.example'],
    envelope: {
      mail_from: 'ann@sender.example',
      rcpt_to: `hello@${us.domain}`,
      remote_ip: '192.0.2.7',
      helo: 'mx.sender.example',
      tls,
    },
    auth: {
      spf: { result: 'pass', domain: 'sender.example', aligned: true, detail: expect.anything() },
      dkim: check,
      dmarc: { ...check, domain: 'sender.example', detail: null },
    },
    folder_reason: 'accepted',
    spam: null,
    attachments: [
      {
        id: expect.stringMatching(/^att_[0-9a-z]{26}$/),
        filename: 'a.png',
        content_type: 'image/png',
        size: 4,
        content_id: 'pic@x',
        disposition: 'inline',
        sha256: createHash('sha256').update(Buffer.from('iVBORw==', 'base64')).digest('hex'),
        scan: 'clean',
        scan_signature: null,
      },
    ],
  })
  expect(shown.headers.map((header: { name: string }) => header.name).slice(0, 3)).toEqual([
    'Received',
    'received',
    'From',
  ])
  expect(shown.headers).toContainEqual({ name: 'References', value: '<zero@x.example> <first@x.example>' })
  expect(shown.headers).toHaveLength(12)
})

describe('HTML', () => {
  const html = '<img src="https://track.example/p.gif" /><img src="cid:a" /><a href="javascript:x()">x</a>'
  const message = () => messageOf(['Content-Type: text/html'], html)

  test('contains nothing that is fetched from elsewhere', async () => {
    const shown = await read(message())
    expect(shown.text).toBeNull()
    expect(shown.html).toContain('cid:a')
    expect(shown.html).not.toMatch(/track|javascript/)
    expect((await read(message(), '?remote=block')).html).toBe(shown.html)
  })

  test('shows remote images when they are requested', async () => {
    const shown = await read(message(), '?remote=allow')
    expect(shown.html).toContain('<img src="https://track.example/p.gif" />')
    expect(shown.html).not.toContain('javascript')
  })

  test('of a megabyte is sanitized too', async () => {
    const shown = await read(messageOf(['Content-Type: text/html'], '<p onclick="x()">Hello.</p>\r\n'.repeat(40_000)))
    expect(shown.html.match(/<p>Hello\.<\/p>/g)).toHaveLength(40_000)
    expect(shown.html).not.toContain('onclick')
  })

  test.each(['?remote=yes', '?remote=', '?images=allow'])('%s is refused', async query => {
    const id = await inbox.deliver(message(), `hello@${us.domain}`)
    expect(await inbox.server.call('GET', `/v1/inbox/${id}${query}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request' } },
    })
  })
})

const text = (charset: string, bytes: Buffer | string) => ({ contentType: `text/plain; charset=${charset}`, bytes })

test.each([
  ['utf-8', Buffer.from('Grüße, 東京'), 'Grüße, 東京'],
  ['iso-8859-1', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'Grüße'],
  ['windows-1252', Buffer.from([0x80, 0x93]), '€“'],
  ['koi8-r', Buffer.from([0xf0, 0xd2, 0xc9]), 'При'],
  ['shift_jis', Buffer.from([0x93, 0x8c, 0x8b, 0x9e]), '東京'],
  ['iso-2022-jp', Buffer.from('\x1b$BElET\x1b(B', 'latin1'), '東都'],
  ['euc-kr', Buffer.from([0xc7, 0xd1]), '한'],
  ['gb18030', Buffer.from([0xd6, 0xd0]), '中'],
  ['big5', Buffer.from([0xa4, 0xa4]), '中'],
  ['utf-16le', Buffer.from('Grüße', 'utf16le'), 'Grüße'],
  ['klingon', Buffer.from('plain'), 'plain'],
])('text in %s is shown', async (charset, bytes, shown) => {
  expect((await read(multipart([text(charset, bytes)]))).text).toContain(shown)
})

describe('a malformed message', () => {
  const from = 'From: ann@sender.example\r\n'
  const head = `${from}Content-Type: multipart/mixed; boundary=b\r\n\r\n`
  for (const [what, message, shown] of [
    ['without an end of its parts', `${head}--b\r\n\r\nfirst\r\n--b\r\nContent-Type: image/png\r\n\r\nx`, 'first'],
    ['with base64 that is none', `${from}Content-Transfer-Encoding: base64\r\n\r\n!!SGVsbG8=!!`, 'Hello'],
    ['with lines that are no fields', `${from}what is this\r\n: nameless\r\n\r\nbody`, 'body'],
    ['with an encoded word that is none', `${from}Subject: =?x?q?=ZZ?= =?utf-8?b?///?=\r\n\r\nbody`, 'body'],
    ['with a Date in the far future', `${from}Date: Mon, 1 Jan 99999 00:00:00 +0000\r\n\r\nbody`, 'body'],
    ['with a Date before all', `${from}Date: 1 Jan -0044 00:00:00 +0000\r\n\r\nbody`, 'body'],
    ['with control characters', `${from}Subject: a\0b\x1b[31m\x07c\r\n\r\nbo\0dy\x1b[0m`, 'bo'],
    ['with bytes of no charset', Buffer.from(`${from}Subject: \xff\xfe\r\n\r\nbody \xff\xfe`, 'latin1'), 'body'],
    ['with LF alone', `${from.replace('\r', '')}Subject: x\n\nbody\n`, 'body'],
    ['of 1,200 fields', `${from}${'X-A: b\r\n'.repeat(1200)}\r\nbody`, null],
    ['without a body', from, null],
    ['in itself', `${head}--b\r\nContent-Type: message/rfc822\r\n\r\n${head}--b\r\n\r\nx\r\n--b--\r\n--b--`, 'x'],
  ] as const)
    test(`${what} shows what can be shown`, async () => {
      const json = await read(typeof message === 'string' ? Buffer.from(message) : message)
      expect(json.from.address).toBe('ann@sender.example')
      if (shown === null) expect(json.text).toBeNull()
      else expect(json.text).toContain(shown)
      const raw = await inbox.download(`/v1/inbox/${json.id}/raw`)
      expect(raw.bytes.subarray(-Buffer.byteLength(message)).equals(Buffer.from(message))).toBe(true)
    })

  test('with 1,001 parts shows the first ones', async () => {
    const json = await read(`${head}--b\r\n\r\nhi\r\n${'--b\r\nContent-Type: image/png\r\n\r\nx\r\n'.repeat(1001)}`)
    expect(json.text).toContain('hi')
    expect(json.attachments.length).toBeGreaterThan(900)
    const { bytes } = await inbox.download(`/v1/inbox/${json.id}/attachments/${json.attachments[900].id}`)
    expect(bytes.toString()).toBe('x')
  })
})
