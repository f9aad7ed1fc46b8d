import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { hostname } from '../../domains/fixtures.ts'
import {
  infectedBytes,
  messageOf,
  multipart,
  openTestInbox,
  type ReceivingDomain,
  type TestInbox,
  type TestPart,
} from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

const to = () => `hello@${us.domain}`

async function attachmentsOf(id: string) {
  const { json } = await inbox.server.call('GET', `/v1/inbox/${id}`)
  return json.attachments as { id: string; filename: string; size: number; sha256: string; scan: string }[]
}

const attached = (name: string, bytes: Buffer | string): TestPart => ({
  contentType: 'application/octet-stream',
  disposition: `attachment; filename=${name}`,
  bytes,
})

async function deliverAttached(...parts: readonly TestPart[]) {
  const id = await inbox.deliver(multipart([{ bytes: 'See below.' }, ...parts]), to())
  return { id, attachments: await attachmentsOf(id) }
}

describe('an attachment', () => {
  const everyByte = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7 + (i >> 8)) & 0xff))
  for (const [what, bytes] of [
    ['of every byte', everyByte],
    ['that is empty', Buffer.alloc(0)],
    ['of one byte', Buffer.from([0])],
    ['of 10 MB', Buffer.alloc(10_000_000, everyByte)],
  ] as const)
    test(`${what} comes as it was sent`, async () => {
      const { id, attachments } = await deliverAttached(attached('a.bin', bytes))
      const [attachment] = attachments
      expect(attachments).toHaveLength(1)
      expect(attachment).toMatchObject({
        filename: 'a.bin',
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        scan: 'clean',
      })
      const { status, headers, bytes: got } = await inbox.download(`/v1/inbox/${id}/attachments/${attachment?.id}`)
      expect([status, got.equals(bytes)]).toEqual([200, true])
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-length': String(bytes.length),
        'content-disposition': `attachment; filename="a.bin"; filename*=UTF-8''a.bin`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
        'x-ratelimit-limit': expect.any(String),
      })
    })

  test('is the right one of three', async () => {
    const contents = ['one', 'the second', 'and the third'].map(value => Buffer.from(value.repeat(50_000)))
    const { id, attachments } = await deliverAttached(...contents.map((content, i) => attached(`${i}.txt`, content)))
    for (const [i, content] of contents.entries()) {
      const { bytes } = await inbox.download(`/v1/inbox/${id}/attachments/${attachments[i]?.id}`)
      expect(bytes.equals(content)).toBe(true)
    }
  })

  test('has its headers with HEAD', async () => {
    const { id, attachments } = await deliverAttached(attached('a.bin', randomBytes(5000)))
    const path = `/v1/inbox/${id}/attachments/${attachments[0]?.id}`
    const { status, headers, text } = await inbox.server.call('HEAD', path)
    expect([status, headers.get('content-length'), headers.get('content-type'), text]).toEqual([
      200,
      '5000',
      'application/octet-stream',
      '',
    ])
  })

  test('of another message is not found', async () => {
    const mine = await deliverAttached(attached('a.bin', 'a'))
    const other = await deliverAttached(attached('b.bin', 'b'))
    for (const id of [other.attachments[0]?.id, 'att_x', mine.id])
      expect(await inbox.server.call('GET', `/v1/inbox/${mine.id}/attachments/${id}`)).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found', requirement: 'check_identifier' } },
      })
  })

  test.each([
    ['"a \\"b\\".txt"', 'filename="a _b_.txt"'],
    ['"../../etc/passwd"', 'filename="__.._etc_passwd"'],
    ["UTF-8''x%0D%0ASet-Cookie:%20a=b", /filename="x[ _]+Set-Cookie: a=b"/],
    ["UTF-8''gpj.%E2%80%AEexe", 'filename="gpj._exe"'],
    ["UTF-8''a%00b", /filename="a[ _]b"/],
    ["UTF-8''%C3%9Cbersicht.txt", "filename*=UTF-8''%C3%9Cbersicht.txt"],
  ])('named %s gets a harmless name', async (name, shown) => {
    const part = {
      ...attached('', 'x'),
      disposition: `attachment; filename${name.startsWith('UTF') ? '*' : ''}=${name}`,
    }
    const { id, attachments } = await deliverAttached(part)
    const { status, headers } = await inbox.download(`/v1/inbox/${id}/attachments/${attachments[0]?.id}`)
    const disposition = headers.get('content-disposition') ?? ''
    expect(status).toBe(200)
    expect(headers.get('set-cookie')).toBeNull()
    expect(disposition).toStartWith('attachment; ')
    if (typeof shown === 'string') expect(disposition).toContain(shown)
    else expect(disposition).toMatch(shown)
  })
})

describe('an infected message', () => {
  const refusal = {
    status: 403,
    json: { error: { code: 'attachment_infected', requirement: 'none', retryable: false } },
  }

  test('is shown; its infected attachment cannot be downloaded, its clean one can', async () => {
    const { id, attachments } = await deliverAttached(attached('ok.txt', 'fine'), attached('bad.com', infectedBytes))
    const { json } = await inbox.server.call('GET', `/v1/inbox/${id}`)
    expect(json).toMatchObject({ folder: 'quarantine', scan: 'infected', text: 'See below.' })
    expect(json.attachments).toMatchObject([
      { scan: 'clean', scan_signature: null },
      { scan: 'infected', scan_signature: expect.stringMatching(/eicar/i) },
    ])
    const path = (i: number) => `/v1/inbox/${id}/attachments/${attachments[i]?.id}`
    expect(await inbox.server.call('GET', path(1))).toMatchObject(refusal)
    expect(await inbox.server.call('HEAD', path(1))).toMatchObject({ status: 403 })
    expect(await inbox.server.call('GET', `/v1/inbox/${id}/raw`)).toMatchObject(refusal)
    expect((await inbox.download(path(0))).bytes.toString()).toBe('fine')
  })

  test('cannot be downloaded in another folder either', async () => {
    const { id, attachments } = await deliverAttached(attached('bad.com', infectedBytes))
    await inbox.server.call('POST', `/v1/inbox/${id}/folder`, { json: { folder: 'inbox' } })
    expect(await inbox.server.call('GET', `/v1/inbox/${id}/attachments/${attachments[0]?.id}`)).toMatchObject(refusal)
    expect(await inbox.server.call('GET', `/v1/inbox/${id}/raw`)).toMatchObject(refusal)
  })
})

test('what could not be scanned cannot be downloaded yet', async () => {
  const raw = multipart([{ bytes: 'Hi.' }, attached('a.txt', 'a')])
  const id = await inbox.deliver(raw, to(), { unscanned: true })
  const { json } = await inbox.server.call('GET', `/v1/inbox/${id}`)
  expect(json).toMatchObject({ folder: 'quarantine', scan: 'error', attachments: [{ scan: 'error' }] })
  for (const path of [`attachments/${json.attachments[0].id}`, 'raw']) {
    const refused = await inbox.server.call('GET', `/v1/inbox/${id}/${path}`)
    expect(refused).toMatchObject({
      status: 403,
      json: { error: { code: 'attachment_unscanned', requirement: 'wait', retryable: true } },
    })
    expect(refused.headers.get('retry-after')).toBe('60')
  }
})

describe('the raw message', () => {
  const odd = Buffer.concat([
    Buffer.from('Subject: odd\r\nX-Folded: a\r\n\tb\nX-Bare: c\r\nno colon\r\n\r\n.dot\nbare\rcr\0nul\r\n'),
    Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
  ])

  test('is the same byte for byte, after our trace fields', async () => {
    const message = Buffer.concat([Buffer.from('From: Ann <ann@sender.example>\r\n'), odd])
    const id = await inbox.deliver(message, to(), {
      mailFrom: 'ann@sender.example',
      remoteIp: '192.0.2.7',
      helo: 'mx.sender.example',
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      smtputf8: true,
    })
    const { status, headers, bytes } = await inbox.download(`/v1/inbox/${id}/raw`)
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      200,
      'message/rfc822',
      `attachment; filename="${id}.eml"; filename*=UTF-8''${id}.eml`,
    ])
    const before = bytes.subarray(0, bytes.length - message.length).toString()
    expect(bytes.subarray(before.length).equals(message)).toBe(true)
    expect(before).toMatch(
      /^Return-Path: <ann@sender\.example>\r\nReceived: from mx\.sender\.example \(\[192\.0\.2\.7\]\)\r\n/,
    )
    expect(before).toContain(` by ${hostname} with UTF8SMTPS`)
    expect(before).toContain(`id ${id}\r\n for <${to()}>; `)
    expect(before).toContain(`\r\nAuthentication-Results: ${hostname};\r\n spf=`)
    expect(before).toEndWith('\r\n')
  })

  test('names only its own recipient', async () => {
    const first = `first@${us.domain}`
    const second = (await inbox.createReceivingDomain()).domain
    await inbox.deliver(messageOf(['Subject: for two']), [first, `secret@${second}`])
    const { json } = await inbox.server.call('GET', '/v1/inbox?limit=2')
    const shown = await Promise.all(
      json.data.map(async (item: { id: string; address: string }) => ({
        address: item.address,
        raw: (await inbox.download(`/v1/inbox/${item.id}/raw`)).bytes.toString(),
      })),
    )
    expect(shown.map(message => message.address).sort()).toEqual([first, `secret@${second}`].sort())
    for (const { address, raw } of shown) {
      expect(raw).toContain(`for <${address}>`)
      expect(raw.includes('secret@')).toBe(address.startsWith('secret@'))
    }
  })

  test('has no Authentication-Results in our name except ours', async () => {
    const forged = `Authentication-Results: ${hostname.toUpperCase()};\r\n dkim=pass header.d=bank.example`
    const others = 'Authentication-Results: mx.other.example; spf=pass'
    const message = messageOf([forged, others, 'Subject: forged'])
    const id = await inbox.deliver(message, to())
    const raw = (await inbox.download(`/v1/inbox/${id}/raw`)).bytes.toString()
    expect(raw).not.toContain('bank.example')
    expect(raw).toContain(others)
    expect(raw.match(new RegExp(`^Authentication-Results: ${hostname}`, 'gim'))).toHaveLength(1)
    expect(raw).toEndWith(message.toString().replace(`${forged}\r\n`, ''))
  })

  test('of 10 MB is complete', async () => {
    const message = multipart([attached('a.bin', Buffer.alloc(7_500_000, 'abcd'))])
    const id = await inbox.deliver(message, to())
    const { bytes } = await inbox.download(`/v1/inbox/${id}/raw`)
    expect(bytes.subarray(-message.length).equals(message)).toBe(true)
  })

  test('has its headers with HEAD', async () => {
    const id = await inbox.deliver(messageOf(), to())
    const { status, headers, text } = await inbox.server.call('HEAD', `/v1/inbox/${id}/raw`)
    expect([status, headers.get('content-type'), text]).toEqual([200, 'message/rfc822', ''])
  })
})
