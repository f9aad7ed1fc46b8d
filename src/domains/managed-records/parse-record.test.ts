import { describe, expect, test } from 'bun:test'
import type { ZoneRecord } from '../../ports/dns-zone/port.ts'
import { applyRecordChange, type NewRecord, parseRecord } from './parse-record.ts'

const read = (type: NewRecord['type'], value: string, more: Partial<NewRecord> = {}): ZoneRecord =>
  parseRecord({ type, name: 'www', value, ttl: 300, priority: type === 'MX' ? 10 : null, ...more }, 'a.test')

const longest = 'x'.repeat(16 * 255)

describe('accepts', () => {
  test.each([
    ['A', '192.0.2.1', '192.0.2.1'],
    ['AAAA', '2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['AAAA', '::', '::'],
    ['CNAME', 'Host.Example.', 'host.example'],
    ['CNAME', 'k1._domainkey.relay.example', 'k1._domainkey.relay.example'],
    ['MX', 'MX.Example.', 'mx.example'],
    ['MX', 'bücher.example', 'xn--bcher-kva.example'],
    ['MX', '.', '.'],
    ['TXT', ' "v=spf1" ; \\ ü ', ' "v=spf1" ; \\ ü '],
    ['TXT', longest, longest],
  ] as const)('%s %p', (type, value, canonical) => {
    expect(read(type, value)).toEqual({
      type,
      name: 'www.a.test',
      value: canonical,
      priority: type === 'MX' ? 10 : null,
      ttlSeconds: 300,
    })
  })
})

const refusal = (work: () => unknown) => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('refuses, by the parameter at fault', () => {
  test.each([
    ['A', '192.0.2.256'],
    ['A', '192.0.2.01'],
    ['A', '192.0.2'],
    ['A', '0x7f.0.0.1'],
    ['A', ' 192.0.2.1'],
    ['A', '2001:db8::1'],
    ['A', 'host.example'],
    ['AAAA', '192.0.2.1'],
    ['AAAA', 'fe80::1%eth0'],
    ['AAAA', '[::1]'],
    ['AAAA', '::g'],
    ['CNAME', '192.0.2.1'],
    ['CNAME', 'localhost'],
    ['CNAME', 'www.a.test'],
    ['CNAME', 'WWW.a.test.'],
    ['MX', '192.0.2.1'],
    ['MX', '_x.example'],
    ['MX', '10 mx.example'],
    ['TXT', 'a\nb'],
    ['TXT', 'a\u0000b'],
    ['TXT', '\u007f'],
    ['TXT', '\ud800'],
    ['TXT', `${longest}x`],
    ['TXT', 'ü'.repeat(2041)],
  ] as const)('%s %p', (type, value) => {
    expect(refusal(() => read(type, value))).toMatchObject({ code: 'invalid_request', detail: { param: 'value' } })
  })

  test.each([
    ['MX', null],
    ['A', 10],
    ['TXT', 0],
  ] as const)('%s with the priority %p', (type, priority) => {
    const value = { MX: 'mx.example', A: '192.0.2.1', TXT: 'x' }[type]
    expect(refusal(() => read(type, value, { priority }))).toMatchObject({ detail: { param: 'priority' } })
  })

  test('an invalid name', () => {
    expect(refusal(() => read('A', '192.0.2.1', { name: 'a b' }))).toMatchObject({ detail: { param: 'name' } })
  })

  test.each(['mailroom-ownership=x', '  mailroom-ownership='])('the proof of ownership %p', value => {
    expect(refusal(() => read('TXT', value))).toMatchObject({
      code: 'dns_name_not_allowed',
      detail: { param: 'value' },
    })
  })
})

test('a change keeps the fields that it does not name, even invalid ones', () => {
  const odd: ZoneRecord = { type: 'TXT', name: '-odd-.a.test', value: 'a\tb', priority: null, ttlSeconds: 5 }
  expect(applyRecordChange(odd, { ttl: 60 }, 'a.test')).toEqual({ ...odd, ttlSeconds: 60 })
  expect(applyRecordChange(odd, { value: 'c', priority: null }, 'a.test')).toEqual({ ...odd, value: 'c' })
  expect(applyRecordChange(odd, { name: 'even' }, 'a.test')).toEqual({ ...odd, name: 'even.a.test' })
  expect(refusal(() => applyRecordChange(odd, { priority: 1 }, 'a.test'))).toMatchObject({
    detail: { param: 'priority' },
  })
})
