import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { parseMessage, readMessageSummary, visitAttachments } from './message.ts'
import { readAll } from './streams.ts'

const crlf = (lines: readonly string[]) => Buffer.from(lines.join('\r\n'))

const mixed = crlf([
  'Received: from b',
  'Received: from a',
  'From: =?utf-8?Q?J=C3=BCrgen?= <jw@B\u00fccher.example>',
  'To: Team: one@x.test, "Two, B." <two@X.test>;, three@x.test',
  'Cc: four@x.test',
  'Reply-To: back@x.test',
  'Subject: =?utf-8?B?w6TDtsO8?= and',
  ' more',
  'Message-ID: <1@x.test>',
  'In-Reply-To: Your message <0@x.test>',
  'References: <a@x.test>',
  '\t<0@x.test>',
  'Date: Tue, 1 Jul 2025 10:00:00 +0200 (CEST)',
  'X-Same: 1',
  'X-Same: 2',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Gr=FC=DFe',
  '--b',
  'Content-Type: image/png',
  'Content-Transfer-Encoding: base64',
  'Content-ID: <pic@x>',
  'Content-Disposition: inline; filename="a\u0007b.png"',
  '',
  'AAEC',
  '--b',
  'Content-Type: message/rfc822',
  '',
  'From: inner@x.test',
  '',
  'inner',
  '--b--',
  '',
])

describe('parses a message:', () => {
  test('header, text and attachments', async () => {
    const parsed = await parseMessage(mixed)
    expect(parsed.from).toEqual([{ name: 'Jürgen', address: 'jw@xn--bcher-kva.example' }])
    expect(parsed.to.map(address => address.address)).toEqual(['one@x.test', 'two@x.test', 'three@x.test'])
    expect(parsed.to[1]?.name).toBe('Two, B.')
    expect(parsed.cc.map(address => address.address)).toEqual(['four@x.test'])
    expect(parsed.replyTo.map(address => address.address)).toEqual(['back@x.test'])
    expect(parsed.subject).toBe('äöü and more')
    expect(parsed.messageId).toBe('1@x.test')
    expect(parsed.inReplyTo).toBe('0@x.test')
    expect(parsed.references).toEqual(['a@x.test', '0@x.test'])
    expect(parsed.date?.toISOString()).toBe('2025-07-01T08:00:00.000Z')
    expect(parsed.text?.trim()).toBe('Grüße')
    expect(parsed.html).toBeNull()
    expect(parsed.problem).toBeNull()
    expect([parsed.fromFields, parsed.hops]).toEqual([1, 2])
    expect(parsed.headers.filter(header => header.name === 'X-Same').map(header => header.value)).toEqual(['1', '2'])
    expect(parsed.headers[0]).toEqual({ name: 'Received', value: 'from b' })
    expect(parsed.attachments).toEqual([
      {
        filename: 'a b.png',
        contentType: 'image/png',
        size: 3,
        contentId: 'pic@x',
        disposition: 'inline',
        sha256: createHash('sha256')
          .update(Buffer.of(0, 1, 2))
          .digest(),
        content: Buffer.of(0, 1, 2),
      },
      expect.objectContaining({ filename: 'message-2.eml', contentType: 'message/rfc822', disposition: 'attachment' }),
    ])
  })

  test('the same from a stream of small chunks', async () => {
    const pieces = Array.from({ length: Math.ceil(mixed.length / 7) }, (_, i) => mixed.subarray(i * 7, i * 7 + 7))
    const { attachments, ...streamed } = await readMessageSummary(Readable.from(pieces, { objectMode: false }))
    const { attachments: whole, ...parsed } = await parseMessage(mixed)
    expect(streamed).toEqual(parsed)
    expect<unknown>(attachments).toEqual(whole.map(({ content: _, ...facts }) => facts))
  })

  test('an attachment of several megabytes, without holding it in memory', async () => {
    const content = Buffer.alloc(6 * 1024 * 1024, 'abcdefgh')
    const head = 'From: a@x.test\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    const lines = content.toString('base64').replace(/.{76}/g, '$&\r\n')
    const { attachments } = await readMessageSummary(Buffer.from(head + lines))
    expect(attachments).toHaveLength(1)
    expect(attachments[0]?.size).toBe(content.length)
    expect(attachments[0]?.sha256).toEqual(createHash('sha256').update(content).digest())
  })
})

test('reads identifiers with or without brackets, and not what is none', async () => {
  for (const [value, expected] of [
    ['<1@x.test>', ['1@x.test']],
    ['< 1@x.test >', ['1@x.test']],
    ['1@x.test', ['1@x.test']],
    ['1@x.test\r\n 2@x.test', ['1@x.test', '2@x.test']],
    ['<1@x.test>,<2@x.test>', ['1@x.test', '2@x.test']],
    ['Your message of Tuesday <1@x.test>', ['1@x.test']],
    ['Your message of Tuesday to ann@x.test', []],
    ['ann@x.test (Ann)', []],
    ['none', []],
    ['<>', []],
  ] as const) {
    const fields = ['Message-ID', 'In-Reply-To', 'References'].map(name => `${name}: ${value}\r\n`)
    const { messageId, inReplyTo, references } = await parseMessage(Buffer.from(`${fields.join('')}\r\n`))
    expect(references).toEqual(expected)
    expect([messageId, inReplyTo]).toEqual([expected[0] ?? null, expected[0] ?? null])
  }
})

describe('parses as much as possible of', () => {
  const odd: readonly (readonly [what: string, bytes: Buffer, text: string | null])[] = [
    ['nothing at all', Buffer.alloc(0), null],
    ['an empty line', Buffer.from('\r\n'), null],
    ['a body alone', Buffer.from('\r\nhi\r\n'), 'hi'],
    ['bare LF', Buffer.from('Subject: x\n\nhi\n'), 'hi'],
    ['an unknown charset', Buffer.from('Content-Type: text/plain; charset=klingon\r\n\r\nhi'), 'hi'],
    [
      'Shift_JIS',
      Buffer.from(
        '436f6e74656e742d547970653a20746578742f706c61696e3b20636861727365743d53686966745f4a49530d0a0d0a93fa967b',
        'hex',
      ),
      '日本',
    ],
    ['ISO-2022-JP', Buffer.from('Content-Type: text/plain; charset=ISO-2022-JP\r\n\r\n\x1b$BF|K\\\x1b(B'), '日本'],
    [
      'UTF-16',
      Buffer.concat([Buffer.from('Content-Type: text/plain; charset=utf-16le\r\n\r\n'), Buffer.from('hé', 'utf16le')]),
      'hé',
    ],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from('Content-Type: text/plain; charset=utf-8\r\n\r\n'), Buffer.of(0x68, 0xff)]),
      'h\ufffd',
    ],
    ['a byte order mark', Buffer.from('Content-Type: text/plain; charset=utf-8\r\n\r\n\ufeffhi'), 'hi'],
    ['broken base64', Buffer.from('Content-Transfer-Encoding: base64\r\n\r\naGk=!!!='), 'hi'],
    ['broken quoted-printable', Buffer.from('Content-Transfer-Encoding: quoted-printable\r\n\r\nh=zzi='), 'h=zzi'],
    ['a multipart without its boundary', Buffer.from('Content-Type: multipart/mixed\r\n\r\nhi'), 'hi'],
    [
      'a multipart that does not end',
      Buffer.from('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhi'),
      'hi',
    ],
  ]
  for (const [what, bytes, text] of odd)
    test(what, async () => {
      const parsed = await parseMessage(bytes)
      expect(parsed.text?.trim() ?? null).toBe(text)
      expect(parsed.problem).toBeNull()
    })

  test('an invalid Date', async () => {
    expect((await parseMessage(Buffer.from('Date: soon\r\n\r\n'))).date).toBeNull()
  })

  test('a Subject whose encoded words hold line ends', async () => {
    const words = Buffer.from('one\r\nBcc: two\u001b[2J\0').toString('base64')
    expect((await parseMessage(Buffer.from(`Subject: =?utf-8?B?${words}?=\r\n\r\n`))).subject).toBe('one Bcc: two [2J')
  })

  test('a Subject in bytes of an unknown charset', async () => {
    const subject = Buffer.concat([Buffer.from('Subject: caf'), Buffer.of(0xe9), Buffer.from('\r\n\r\n')])
    expect((await parseMessage(subject)).subject).toBe('caf\ufffd')
  })
})

const head = 'From: Ann <a@x.test>\r\nTo: b@x.test\r\nSubject: bomb\r\n'

describe('stays within its limits, and reports it, with', () => {
  const bombs: readonly (readonly [what: string, message: string, problem: string, text: string | null])[] = [
    [
      '1,001 parts',
      `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nhello\r\n'.repeat(1001)}--b--\r\n`,
      'there are more than 1000 parts',
      'hello',
    ],
    [
      '50,000 parts',
      `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n'.repeat(50_000)}--b--\r\n`,
      'there are more than 1000 parts',
      'hello',
    ],
    [
      '1,000 levels',
      `${head}${Array.from({ length: 1000 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join('')}\r\nhi`,
      'parts are nested more than 100 deep',
      null,
    ],
    ['a giant field', `${head}X: ${'a'.repeat(300_000)}\r\n\r\nhi`, "a part's header has more than 262144 bytes", null],
    ['40,000 fields', `${head}${'X: a\r\n'.repeat(40_000)}\r\nhi`, 'a part has more than 1000 header fields', null],
    [
      'a giant header in a part',
      `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\nX: ${'a'.repeat(300_000)}\r\n\r\nhi`,
      "a part's header has more than 262144 bytes",
      'hello',
    ],
    [
      'a giant text',
      `${head}\r\n${'hello hello hello\r\n'.repeat(300_000)}`,
      'text past 4194304 bytes was left out',
      'hello',
    ],
  ]
  for (const [what, message, problem, text] of bombs)
    test(what, async () => {
      const started = performance.now()
      const parsed = await parseMessage(Buffer.from(message))
      expect(performance.now() - started).toBeLessThan(2000)
      expect(parsed.problem).toBe(problem)
      expect(parsed.subject).toBe('bomb')
      expect(parsed.from).toEqual([{ name: 'Ann', address: 'a@x.test' }])
      expect(parsed.fromFields).toBe(1)
      if (text === null) expect(parsed.text).toBeNull()
      else expect(parsed.text).toStartWith(text)
      expect(parsed.text?.length ?? 0).toBeLessThan(4_200_000)
    })

  test('50,000 nested divs', async () => {
    const html = `${'<div>'.repeat(50_000)}hello${'</div>'.repeat(50_000)}`
    const parsed = await parseMessage(Buffer.from(`${head}Content-Type: text/html\r\n\r\n${html}`))
    expect(parsed.html?.trim()).toBe(html)
  })

  test('very many addresses', async () => {
    const to = Array.from({ length: 3000 }, (_, i) => `Reader ${i} <reader${i}@x.test>`).join(',\r\n ')
    const parsed = await parseMessage(Buffer.from(`To: ${to}\r\n${head}To: late@x.test\r\n\r\nhi`))
    expect(parsed.problem).toBe('addresses past 24576 bytes were left out')
    expect(parsed.from).toEqual([{ name: 'Ann', address: 'a@x.test' }])
    expect(parsed.to.length).toBeGreaterThan(500)
    expect(parsed.to.at(-1)?.address).toBe(`reader${parsed.to.length - 1}@x.test`)
    const started = performance.now()
    const groups = await parseMessage(Buffer.from(`${head}Cc: ${'a:b:'.repeat(60_000)}\r\n\r\nhi`))
    expect(performance.now() - started).toBeLessThan(150)
    expect(groups.subject).toBe('bomb')
  })

  const hostile = ['<', '(', ',', 'a:;', 'a:b:', '=?utf-8?Q?=C3=A9?= ', '=?', '"\\', '@', 'a@b.cc, ', '=?a?q?']
  for (const piece of hostile)
    test(`fields full of ${piece}`, async () => {
      const value = piece.repeat(100_000 / piece.length)
      const fields = [`From: ${value}`, `Subject: ${value}`, `Content-Type: text/plain; x=${value.slice(0, 40_000)}`]
      const started = performance.now()
      await parseMessage(Buffer.from(`${fields.join('\r\n')}\r\n\r\nhi`))
      expect(performance.now() - started).toBeLessThan(1000)
    })
})

test('waits for the visitor of an attachment that the message ends with', async () => {
  const file = 'Content-Type: application/pdf; name=a.pdf\r\n\r\none'
  for (const text of [file, `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhi\r\n--b\r\n${file}`]) {
    const visit = async (content: Readable) => {
      const bytes = await readAll(content)
      // As long as a scanner may take for its verdict.
      await Bun.sleep(30)
      return bytes.toString()
    }
    expect(await visitAttachments(Buffer.from(`From: a@x.test\r\n${text}`), visit)).toEqual(['one'])
  }
})

test('rejects once when reading the bytes fails within an attachment', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  async function* broken() {
    yield Buffer.from('From: a@x.test\r\nContent-Type: application/pdf\r\n\r\n')
    yield Buffer.alloc(200_000, 'x')
    // Long enough for the parser to be within the attachment.
    await Bun.sleep(20)
    throw new Error('the disk is gone')
  }
  for (const read of [parseMessage, readMessageSummary]) {
    const failure = await read(Readable.from(broken(), { objectMode: false })).catch((error: Error) => error.message)
    expect(failure).toBe('the disk is gone')
  }
  const visit = () => Promise.reject(new Error('the visitor is gone'))
  expect(await visitAttachments(mixed, visit)).toEqual([])
  // Long enough for a rejection that nobody handles.
  await Bun.sleep(20)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('a message that ends with the header of an attached message is read to its end', async () => {
  const fields = ['From: a@x.test', 'Content-Type: message/rfc822', 'Content-Disposition: inline']
  for (const more of [
    [],
    [''],
    ['', 'From: b@x.test'],
    ['', 'Content-Type: message/rfc822', 'Content-Disposition: inline'],
  ]) {
    const { problem, fromFields } = await readMessageSummary(crlf([...fields, ...more]))
    expect({ problem, fromFields }).toEqual({ problem: null, fromFields: 1 })
  }
})
