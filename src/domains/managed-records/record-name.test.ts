import { describe, expect, test } from 'bun:test'
import { isOwnershipName, isWithin, namesBetween, parseRecordName, parseTarget } from './record-name.ts'

describe('a record name entered for a.example.test', () => {
  test.each([
    ['@', 'a.example.test'],
    // Relative: a single label, whatever it is, and what begins with _ or *.
    ['www', 'www.a.example.test'],
    ['WWW', 'www.a.example.test'],
    ['1', '1.a.example.test'],
    ['test', 'test.a.example.test'],
    ['com', 'com.a.example.test'],
    ['bücher', 'xn--bcher-kva.a.example.test'],
    ['xn--bcher-kva', 'xn--bcher-kva.a.example.test'],
    ['_dmarc', '_dmarc.a.example.test'],
    ['_dmarc.www', '_dmarc.www.a.example.test'],
    ['_sip._tcp', '_sip._tcp.a.example.test'],
    ['_dmarc.b.example.test', '_dmarc.b.example.test.a.example.test'],
    ['*', '*.a.example.test'],
    ['*.deep', '*.deep.a.example.test'],
    ['*.google.com', '*.google.com.a.example.test'],
    // Full: what ends in the domain, by whole labels, with or without a dot at its end.
    ['a.example.test', 'a.example.test'],
    ['A.Example.Test.', 'a.example.test'],
    ['www.a.example.test', 'www.a.example.test'],
    ['www.a.example.test.', 'www.a.example.test'],
    ['_dmarc.a.example.test', '_dmarc.a.example.test'],
    ['*.a.example.test', '*.a.example.test'],
    ['BÜCHER._x.a.example.test', 'xn--bcher-kva._x.a.example.test'],
    // Everything else is the name of something elsewhere, which is refused, and not read as a name below the domain.
    ['www.google.com', 'www.google.com'],
    ['google.com', 'google.com'],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['mail.sub', 'mail.sub'],
    ['mr1._domainkey', 'mr1._domainkey'],
    ['a.example', 'a.example'],
    ['example.test', 'example.test'],
    ['b.example.test', 'b.example.test'],
    ['xa.example.test', 'xa.example.test'],
    ['a.example.test.com', 'a.example.test.com'],
    ['www.', 'www'],
    ['test.', 'test'],
    ['_dmarc.', '_dmarc'],
    ['*.', '*'],
    ['a.example.', 'a.example'],
    ['www.google.com.', 'www.google.com'],
  ])('%p is %p', (text, name) => {
    expect(parseRecordName(text, 'a.example.test')).toBe(name)
  })

  test.each([
    '',
    '.',
    '..',
    'a..b',
    '.www',
    'www..',
    'a b',
    'a\nb',
    'a\u0000b',
    'a/b',
    'a@b',
    '-a',
    'a-',
    'www.*',
    'a*',
    '*a',
    '**',
    'x'.repeat(64),
    `${'x'.repeat(60)}.`.repeat(5).concat('x'),
    '１２７。０',
    'xn--\u00fc',
    '\u00ad',
    '\ud800',
  ])('%p is none', text => {
    expect(parseRecordName(text, 'a.example.test')).toBeUndefined()
  })

  test('may be as long as DNS allows, and no longer', () => {
    const fitting = `_${'x'.repeat(59)}.`.concat(`${'x'.repeat(60)}.`.repeat(2), 'x'.repeat(253 - 183 - 15))
    expect(parseRecordName(fitting, 'a.example.test')).toHaveLength(253)
    expect(parseRecordName(`${fitting}x`, 'a.example.test')).toBeUndefined()
    expect(parseRecordName(`${fitting}.a.example.test`, 'a.example.test')).toHaveLength(253)
    expect(parseRecordName(`${fitting}x.a.example.test`, 'a.example.test')).toBeUndefined()
  })
})

test.each([
  ['Mail.Example.com.', 'mail.example.com'],
  ['k1._domainkey.relay.example', 'k1._domainkey.relay.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
])('%p may be led to', (text, name) => {
  expect(parseTarget(text)).toBe(name)
})

test.each(['localhost', '', '.', '*.example.com', '192.0.2.1', 'a b.example', 'https://example.com'])(
  '%p may not be led to',
  text => {
    expect(parseTarget(text)).toBeUndefined()
  },
)

test('a name is within a domain by whole labels', () => {
  expect(isWithin('a.test', 'a.test')).toBe(true)
  expect(isWithin('b.a.test', 'a.test')).toBe(true)
  expect(isWithin('ba.test', 'a.test')).toBe(false)
  expect(isWithin('test', 'a.test')).toBe(false)
})

test('ownership names are recognised at and below their label, only by the whole label', () => {
  expect(isOwnershipName('_mailroom.a.test')).toBe(true)
  expect(isOwnershipName('x._mailroom.a.test')).toBe(true)
  expect(isOwnershipName('_mailroom.b.a.test')).toBe(true)
  expect(isOwnershipName('_mailroom-in.a.test')).toBe(false)
  expect(isOwnershipName('mailroom.a.test')).toBe(false)
})

test('the names between a name and a domain are the subdomains that may be registered separately', () => {
  expect(namesBetween('c.b.a.test', 'a.test')).toEqual(['c.b.a.test', 'b.a.test'])
  expect(namesBetween('b.a.test', 'a.test')).toEqual(['b.a.test'])
  expect(namesBetween('a.test', 'a.test')).toEqual([])
})
