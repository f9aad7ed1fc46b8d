import { expect, test } from 'bun:test'
import { type ProxyHeader, readProxyHeader } from './proxy-header.ts'

const signature = '0d0a0d0a000d0a515549540a'

/** A header of version 2: command, family, and the rest after its length; all in hex. */
function binary(command: string, family: string, rest: string): Buffer {
  const length = (rest.length / 2).toString(16).padStart(4, '0')
  return Buffer.from(signature + command + family + length + rest, 'hex')
}

const line = (text: string) => Buffer.from(text, 'latin1')
const v6 = '20010db8000000000000000000000001'
const ports = 'fde80019'
const client = (address: string, length: number, port = 65_000): ProxyHeader => ({
  kind: 'client',
  client: { address, port },
  length,
})
const own = (length: number): ProxyHeader => ({ kind: 'own', length })
const tlv = `04${'0100'}${'00'.repeat(256)}`

const valid: Readonly<Record<string, readonly [Buffer, ProxyHeader]>> = {
  'a line for IPv4': [line('PROXY TCP4 192.0.2.7 198.51.100.1 65000 25\r\n'), client('192.0.2.7', 44)],
  'a line for IPv6': [line('PROXY TCP6 2001:DB8:0::0:1 2001:db8::2 65000 25\r\n'), client('2001:db8::1', 49)],
  'a line for an IPv4-mapped IPv6 address': [
    line('PROXY TCP6 ::ffff:192.0.2.7 ::1 65000 25\r\n'),
    client('192.0.2.7', 42),
  ],
  'a line for an unknown client': [line('PROXY UNKNOWN\r\n'), own(15)],
  'a line for an unknown client with addresses': [line('PROXY UNKNOWN ff:: x y z\r\n'), own(26)],
  'the longest line': [
    line(`PROXY UNKNOWN ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`),
    own(107),
  ],
  'the binary form for IPv4': [binary('21', '11', `c0000207c6336401${ports}`), client('192.0.2.7', 28)],
  'the binary form for IPv6': [binary('21', '21', v6 + v6 + ports), client('2001:db8::1', 52)],
  'the binary form for an IPv4-mapped IPv6 address': [
    binary('21', '21', `00000000000000000000ffffc0000207${v6}${ports}`),
    client('192.0.2.7', 52),
  ],
  'the binary form with extensions': [binary('21', '11', `c0000207c6336401${ports}${tlv}`), client('192.0.2.7', 287)],
  'the binary form for the load balancer itself': [binary('20', '00', ''), own(16)],
  'the binary form for the load balancer itself, with addresses': [
    binary('20', '11', `c0000207c6336401${ports}`),
    own(28),
  ],
  'the binary form for an unspecified family': [binary('21', '00', 'abcd'), own(18)],
  'the binary form for a Unix socket': [binary('21', '31', '00'.repeat(216)), own(232)],
}

const mail = Buffer.from('EHLO client.test\r\n')

for (const [name, [bytes, expected]] of Object.entries(valid)) {
  test(`parses ${name}, and leaves the bytes after it`, () => {
    expect(readProxyHeader(bytes)).toEqual(expected)
    expect(readProxyHeader(Buffer.concat([bytes, mail]))).toEqual(expected)
  })

  test(`waits for the rest of ${name}, wherever it is split`, () => {
    for (let end = 0; end < bytes.length; end++)
      expect(readProxyHeader(bytes.subarray(0, end))).toEqual({ kind: 'incomplete' })
  })
}

const invalid: Readonly<Record<string, Buffer>> = {
  'mail without a header': mail,
  'a TLS ClientHello': Buffer.from('160301020001', 'hex'),
  'a family of another kind than the address': line('PROXY TCP4 2001:db8::1 2001:db8::2 65000 25\r\n'),
  'an IPv4 address as IPv6': line('PROXY TCP6 192.0.2.7 198.51.100.1 65000 25\r\n'),
  'an address with a zone': line('PROXY TCP6 fe80::1%eth0 2001:db8::2 65000 25\r\n'),
  'an address with a zero in front': line('PROXY TCP4 192.0.2.07 198.51.100.1 65000 25\r\n'),
  'a port past 65535': line('PROXY TCP4 192.0.2.7 198.51.100.1 65536 25\r\n'),
  'a port with a zero in front': line('PROXY TCP4 192.0.2.7 198.51.100.1 065 25\r\n'),
  'a port that is absent': line('PROXY TCP4 192.0.2.7 198.51.100.1 65000\r\n'),
  'a word too many': line('PROXY TCP4 192.0.2.7 198.51.100.1 65000 25 x\r\n'),
  'two spaces': line('PROXY TCP4  192.0.2.7 198.51.100.1 65000 25\r\n'),
  'another protocol': line('PROXY UDP4 192.0.2.7 198.51.100.1 65000 25\r\n'),
  'small letters': line('proxy TCP4 192.0.2.7 198.51.100.1 65000 25\r\n'),
  'a line that is too long': line(`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`),
  'a line that does not end': line(`PROXY UNKNOWN ${'x'.repeat(200)}`),
  'another version': binary('31', '11', `c0000207c6336401${ports}`),
  'another command': binary('22', '11', `c0000207c6336401${ports}`),
  'an unassigned family': binary('21', '41', `c0000207c6336401${ports}`),
  'a length without room for the addresses': binary('21', '21', `c0000207c6336401${ports}`),
  'a length past the limit': Buffer.from(`${signature}2111ffff`, 'hex'),
}

for (const [name, bytes] of Object.entries(invalid))
  test(`refuses ${name}`, () => expect(readProxyHeader(bytes)).toEqual({ kind: 'malformed' }))

test('does not accept a bare LF as the end of a line', () => {
  expect(readProxyHeader(line('PROXY TCP4 192.0.2.7 198.51.100.1 65000 25\n'))).toEqual({ kind: 'incomplete' })
})
