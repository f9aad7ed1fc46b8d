import { describe, expect, test } from 'bun:test'
import { readMessage, withoutPrivateFields } from './read-message.ts'

const read = (text: string) => readMessage(Buffer.from(text, 'latin1'))
const bytesOf = async (text: string) => {
  const reading = await read(text)
  return reading.kind === 'message' ? reading.bytes.toString('latin1') : reading.problem
}

describe('line ends become CRLF', () => {
  test.each([
    ['From: a@x\n\nb\n.\n', 'From: a@x\r\n\r\nb\r\n.\r\n'],
    ['From: a@x\r\rb\r', 'From: a@x\r\n\r\nb\r\n'],
    ['From: a@x\r\n\r\nb\r\r\n.\r\n', 'From: a@x\r\n\r\nb\r\n\r\n.\r\n'],
    ['From: a@x\rBcc: b@x\r\n\r\nc', 'From: a@x\r\nBcc: b@x\r\n\r\nc'],
  ])('%j', async (text, bytes) => {
    expect(await bytesOf(text)).toBe(bytes)
  })
})

test('lines of white space within the header go, since they end it for some readers', async () => {
  expect(await bytesOf('From: a@x\r\n \r\n\t\r\nTo: b@x\r\n \r\n c@x\r\n\r\n \r\nbody')).toBe(
    'From: a@x\r\nTo: b@x\r\n c@x\r\n\r\n \r\nbody',
  )
})

test.each([
  ['', 'line 1 of its header is not a header field'],
  ['\r\nbody', 'line 1 of its header is not a header field'],
  [' folded\r\n\r\n', 'line 1 of its header is not a header field'],
  ['From x@y Mon\r\nFrom: a@x\r\n\r\n', 'line 1 of its header is not a header field'],
  ['From: a@x\r\nÜ: b\r\n\r\n', 'line 2 of its header is not a header field'],
  ['From: a@x\r\nX: a\0b\r\n\r\n', 'line 2 of its header contains NUL'],
  [`From: a@x\r\nX: ${'x'.repeat(996)}\r\n\r\n`, 'line 2 of its header has more than 998 octets'],
  ['X: y\r\n'.repeat(1001), 'its header has more than 1000 fields'],
  [`X: y\r\n${' z\r\n'.repeat(70_000)}\r\n`, 'its header has more than 262144 octets'],
  [
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(1500)}`,
    expect.stringMatching(/^it cannot be parsed: /),
  ],
])('%j cannot be sent', async (text, problem) => {
  expect(await read(text)).toEqual({ kind: 'malformed', problem })
})

test('private fields go, whatever their case, with the lines that they are folded over', () => {
  const message = [
    'From: a@x',
    'BCC: b@x,',
    ' c@x',
    'x-mailroom-TAG: a=b',
    'Return-Path: <a@x>',
    'Message-ID: <1@x>',
    '',
    'Bcc: body',
  ]
  const text = (isWithoutId: boolean) => withoutPrivateFields(Buffer.from(message.join('\r\n')), isWithoutId).toString()
  expect(text(false)).toBe('From: a@x\r\nMessage-ID: <1@x>\r\n\r\nBcc: body')
  expect(text(true)).toBe('From: a@x\r\n\r\nBcc: body')
})
