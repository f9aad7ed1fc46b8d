import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import type { SigningKey } from '../../domains/dkim/keys.ts'
import { dkimSignatures } from './dkim-signature.ts'

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const key: SigningKey = { domain: 'shop.example', selector: 'mr1-20260101-abcdef', privateKey: pair.privateKey }
const record = `v=DKIM1; k=rsa; p=${pair.publicKey.toString('base64')}`

async function verdict(message: Buffer) {
  const { results } = await dkimVerify(message, { strict: true, resolver: async () => [[record]] } as never)
  return results.map(result => result.status)
}

async function signed(message: string, keys: readonly SigningKey[] = [key], unsigned: readonly string[] = []) {
  const bytes = Buffer.from(message)
  return Buffer.concat([await dkimSignatures(bytes, keys, 1_760_000_000, unsigned), bytes])
}

const header = [
  'Date: Thu, 01 Jan 2026 00:00:00 +0000',
  'From: Shop  <hello@shop.example>',
  'To: a@x.example,',
  '\tb@x.example',
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=   and  more ',
  'Message-ID: <1@shop.example>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  'List-Unsubscribe: <https://shop.example/u/1>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  'X-Mailroom-Id: eml_1',
].join('\r\n')

test.each([
  ['plain', `${header}\r\n\r\nHello\r\n`],
  ['no body', `${header}\r\n\r\n`],
  ['no blank line', `${header}\r\n`],
  ['no final line end', `${header}\r\n\r\nHello`],
  ['empty lines at the end', `${header}\r\n\r\nHello\r\n\r\n\r\n`],
  ['nothing but empty lines', `${header}\r\n\r\n\r\n\r\n`],
  ['an empty line first and last', `${header}\r\n\r\n\r\nHello you\r\n\r\n`],
  ['a space before a line end', `${header}\r\n\r\nHello \r\nyou\r\n`],
  ['a line of one space at the end', `${header}\r\n\r\nHello\r\n \r\n`],
  ['two spaces', `${header}\r\n\r\nHello  you\r\n`],
  ['a tab', `${header}\r\n\r\nHello\tyou\r\n`],
  ['a bare line feed', `${header}\r\n\r\nHello\nyou\r\n`],
  ['white space and dots', `${header}\r\n\r\n a \t b  \r\n\r\n.\r\n..\r\n \r\n`],
  ['half a megabyte', `${header}\r\n\r\n${`${'x y'.repeat(25)}\r\n`.repeat(7000)}`],
])('a signature verifies: %s', async (_, message) => {
  expect(await verdict(await signed(message))).toEqual([expect.objectContaining({ result: 'pass' })])
})

test('each key signs', async () => {
  const message = await signed(`${header}\r\n\r\nHello\r\n`, [key, { ...key, selector: 'mr2' }])
  expect((await verdict(message)).map(({ result }) => result)).toEqual(['pass', 'pass'])
})

test.each([
  'From: Other <other@shop.example>',
  'Subject: Other',
  'Cc: c@x.example',
  'Content-Type: text/html',
  'Date: x',
])('a field put in front breaks the signature: %s', async field => {
  const message = await signed(`${header}\r\n\r\nHello\r\n`)
  expect((await verdict(Buffer.concat([Buffer.from(`${field}\r\n`), message])))[0]?.result).not.toBe('pass')
})

test.each([
  ['the body', 'Hello', 'Hallo'],
  ['the unsubscribe link', 'u/1', 'u/2'],
])('a change of %s breaks the signature', async (_, from, to) => {
  const message = (await signed(`${header}\r\n\r\nHello\r\n`)).toString().replace(from, to)
  expect((await verdict(Buffer.from(message)))[0]?.result).not.toBe('pass')
})

test('header fields that the provider changes are not signed', async () => {
  const message = (await signed(`${header}\r\n\r\nHello\r\n`, [key], ['message-id', 'date'])).toString()
  const replaced = message.replace('<1@shop.example>', '<2@relay.example>').replace('01 Jan', '02 Jan')
  expect((await verdict(Buffer.from(replaced)))[0]?.result).toBe('pass')
})

test('lines of the signature field stay short', async () => {
  const signature = (await dkimSignatures(Buffer.from(`${header}\r\n\r\nHello\r\n`), [key], 1_760_000_000)).toString()
  expect(signature.endsWith('\r\n')).toBe(true)
  for (const line of signature.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78)
})
