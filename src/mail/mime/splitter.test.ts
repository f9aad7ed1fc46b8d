import { describe, expect, test } from 'bun:test'
import { Readable } from 'node:stream'
import { type MessageSummary, parseMessage, readMessageSummary } from '../message.ts'
import { delimiterKind } from './splitter.ts'

const head = 'From: a@x.test\r\nSubject: odd\r\n'

function messageOf(text: string): Buffer {
  return Buffer.from(head + text, 'latin1')
}

/** Parses a message from memory and from streams of small and uneven pieces, which have to give the same. */
async function parsed(message: Buffer) {
  const { attachments, ...rest } = await parseMessage(message)
  const found = {
    text: rest.text?.trim() ?? null,
    files: attachments.map(file => [file.filename, file.content.toString()]),
  }
  const whole: MessageSummary = { ...rest, attachments: attachments.map(({ content: _, ...facts }) => facts) }
  for (const size of [1, 7, 64]) {
    const pieces = Array.from({ length: Math.ceil(message.length / size) }, (_, i) =>
      message.subarray(i * size, (i + 1) * size),
    )
    expect(await readMessageSummary(Readable.from(pieces, { objectMode: false }))).toEqual(whole)
  }
  return found
}

describe('takes a line as a delimiter', () => {
  const boundary = Buffer.from('b=1')
  for (const [line, kind] of [
    ['--b=1\r\n', 1],
    ['--b=1\n', 1],
    ['--b=1 \r\n', 1],
    ['--b=1\t  \t\r\n', 1],
    ['--b=1 ', 1],
    ['--b=1--\r\n', 2],
    ['--b=1--', 2],
    ['--b=1-- \t\r\n', 2],
    [`--b=1${' '.repeat(5000)}\r\n`, 1],
    ['--b=1 --\r\n', false],
    ['--b=1-\r\n', false],
    ['--b=12\r\n', false],
    ['--b=1 x\r\n', false],
    ['--b=1--x\r\n', false],
    ['--b=1\u000b\r\n', false],
    ['-- b=1\r\n', false],
    ['--b=\r\n', false],
  ] as const)
    test(`${JSON.stringify(line).slice(0, 30)}: ${kind || 'no'}`, () => {
      expect(delimiterKind(Buffer.from(line), 0, boundary)).toBe(kind)
      expect(delimiterKind(Buffer.from(`\r\n${line}`), 2, boundary)).toBe(kind)
      expect(delimiterKind(Buffer.from(line), 0, Buffer.from('b=1 \t'))).toBe(
        line.startsWith('--b=1 --') ? false : kind,
      )
    })

  test('and not every line when the boundary is white space', () => {
    expect(delimiterKind(Buffer.from('-- \r\n'), 0, Buffer.from('  '))).toBe(false)
  })
})

describe('finds the parts between delimiters with white space after them:', () => {
  for (const [what, open, close] of [
    ['none', '', ''],
    ['blanks', '   ', '  '],
    ['tabs', '\t', '\t\t'],
    ['long padding', ' '.repeat(3000), ' \t'.repeat(2000)],
    ['only at the end', '', ' '],
  ] as const)
    for (const eol of ['\r\n', '\n'])
      test(`${what}, ${JSON.stringify(eol)}`, async () => {
        const lines = [
          'Content-Type: multipart/mixed; boundary="outer"',
          '',
          'preamble',
          `--outer${open}`,
          'Content-Type: multipart/alternative; boundary="inner"',
          '',
          `--inner${open}`,
          'Content-Type: text/plain',
          '',
          'words',
          `--inner${open}`,
          'Content-Type: text/html',
          '',
          '<p>words</p>',
          `--inner--${close}`,
          '',
          `--outer${open}`,
          'Content-Type: application/pdf',
          'Content-Disposition: attachment; filename="a.pdf"',
          '',
          'one',
          `--outer${open}`,
          'Content-Type: application/pdf; name=b.pdf',
          '',
          'two',
          `--outer--${close}`,
          'epilogue',
          '',
        ]
        expect(await parsed(messageOf(lines.join(eol)))).toEqual({
          text: 'words',
          files: [
            ['a.pdf', 'one'],
            ['b.pdf', 'two'],
          ],
        })
      })

  test('a value with white space at its end', async () => {
    const body = '\r\n\r\n--b\r\n\r\nwords\r\n--b\r\nContent-Type: image/png; name=a.png\r\n\r\none\r\n--b--\r\n'
    const message = messageOf(`Content-Type: multipart/mixed; boundary="b  "${body}`)
    expect(await parsed(message)).toEqual({ text: 'words', files: [['a.png', 'one']] })
  })

  test('a last delimiter without a line end', async () => {
    const body = '\r\n\r\n--b \r\n\r\nwords\r\n--b-- '
    expect(await parsed(messageOf(`Content-Type: multipart/mixed; boundary=b${body}`))).toEqual({
      text: 'words',
      files: [],
    })
  })
})

describe('ends an unclosed multipart at the delimiter of an outer one:', () => {
  const file = ['Content-Type: application/pdf; name=a.pdf', '', 'one']
  const alternative = (boundary: string) => [
    `Content-Type: multipart/alternative; boundary=${boundary}`,
    '',
    `--${boundary}`,
    '',
    'words',
    `--${boundary}`,
    'Content-Type: text/html',
    '',
    '<p>',
  ]
  const nested = ['Content-Type: multipart/related; boundary=c', '', '--c', ...alternative('d')]
  for (const [what, inner] of [
    ['of the next level', alternative('c')],
    ['of two levels', nested],
    ['of one within which another was closed', [...nested, '--d--']],
    ['of one that ends with a header', [...alternative('c'), '--c', 'Content-Type: text/plain']],
  ] as const)
    for (const end of ['--b', '--b \t'])
      test(`${what}, ${JSON.stringify(end)}`, async () => {
        const lines = [
          'Content-Type: multipart/mixed; boundary=b',
          '',
          '--b',
          ...inner,
          end,
          ...file,
          '--b--',
          'epilogue',
          '',
        ]
        expect(await parsed(messageOf(lines.join('\r\n')))).toEqual({ text: 'words', files: [['a.pdf', 'one']] })
        const last = [
          'Content-Type: multipart/mixed; boundary=b',
          '',
          '--b',
          ...file,
          '--b',
          ...inner,
          '--b--',
          'epilogue',
          '',
        ]
        expect(await parsed(messageOf(last.join('\n')))).toEqual({ text: 'words', files: [['a.pdf', 'one']] })
      })
})

describe('ends the header', () => {
  const odd: readonly (readonly [what: string, message: string, text: string | null])[] = [
    ['at a line of one blank', ' \r\nwords\r\nmore\r\n', 'words\nmore'],
    ['at a line of one tab', '\t\r\nwords\r\n\r\nmore\r\n', 'words\n\nmore'],
    ['at a line of one blank before a single line', ' \r\nwords', 'words'],
    ['not at a line of one blank before a field', 'X-Long: a\r\n \r\nX-Other: b\r\n\r\nwords', 'words'],
    ['not at a line of one blank within a field', 'X-Long: a\r\n \r\n b\r\n\r\nwords', 'words'],
    ['at an empty line, whatever follows', '\r\n \r\nwords', 'words'],
    ['not at a line that is no field', 'this is no field\r\n\r\nwords', 'words'],
  ]
  for (const [what, rest, text] of odd)
    for (const eol of ['\r\n', '\n'])
      test(`${what}, ${JSON.stringify(eol)}`, async () => {
        expect(await parsed(Buffer.from((head + rest).replaceAll('\r\n', eol)))).toEqual({ text, files: [] })
      })

  test('of a part that has none at its first line', async () => {
    const lines = [
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'words',
      'more: or less',
      '--b',
      'X: y',
      '',
      'end',
      '--b--',
    ]
    expect(await parsed(messageOf(lines.join('\r\n')))).toEqual({ text: 'words\nmore: or less\nend', files: [] })
  })

  test('of a part at a line of one blank', async () => {
    const lines = [
      'Content-Type: multipart/mixed; boundary=b',
      ' ',
      '--b',
      ' ',
      'words',
      '--b',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Transfer-Encoding: base64',
      '  ',
      'b25l',
      '--b--',
      '',
    ]
    expect(await parsed(messageOf(lines.join('\r\n')))).toEqual({ text: 'words', files: [['a.pdf', 'one']] })
  })
})
