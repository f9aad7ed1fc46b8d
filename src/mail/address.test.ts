import { describe, expect, test } from 'bun:test'
import { canonicalDomain, formatAddress, parseAddress, splitAddress } from './address.ts'

describe('parseAddress', () => {
  const right: readonly (readonly [string, string, string])[] = [
    ['a@b.example', 'a@b.example', ''],
    ['  a@b.example ', 'a@b.example', ''],
    ['<a@b.example>', 'a@b.example', ''],
    ['Ann <a@b.example>', 'a@b.example', 'Ann'],
    ['Ann<a@b.example>', 'a@b.example', 'Ann'],
    ['Ann  B.  Lee <A.Lee+tag@B.Example>', 'A.Lee+tag@b.example', 'Ann B. Lee'],
    ['"Lee, Ann" <a@b.example>', 'a@b.example', 'Lee, Ann'],
    ['"Ann \\"A\\" Lee" <a@b.example>', 'a@b.example', 'Ann "A" Lee'],
    ['Ann "the <boss>" Lee <a@b.example>', 'a@b.example', 'Ann the <boss> Lee'],
    ['"" <a@b.example>', 'a@b.example', ''],
    ['Zoë 山田 <a@b.example>', 'a@b.example', 'Zoë 山田'],
    ['a@Bücher.example', 'a@xn--bcher-kva.example', ''],
    ['a@XN--BCHER-KVA.example', 'a@xn--bcher-kva.example', ''],
    ['"john doe"@b.example', '"john doe"@b.example', ''],
    ['"john"@b.example', 'john@b.example', ''],
    ['"a@b"@c.example', '"a@b"@c.example', ''],
    ['"a\\"b"@c.example', '"a\\"b"@c.example', ''],
    ['X <"<a>"@c.example>', '"<a>"@c.example', 'X'],
    [`${'l'.repeat(64)}@b.example`, `${'l'.repeat(64)}@b.example`, ''],
    ["o'neil/sales=x@b.example", "o'neil/sales=x@b.example", ''],
  ]
  for (const [text, address, name] of right)
    test(`reads ${text.slice(0, 60)}`, () => expect(parseAddress(text)).toEqual({ address, name }))

  const long = `${'d'.repeat(60)}.`.repeat(3)
  const wrong: readonly string[] = [
    '',
    ' ',
    'a',
    '@b.example',
    'a@',
    'a@b',
    'a@b.example.',
    'a b@c.example',
    'a@b@c.example',
    '.a@b.example',
    'a.@b.example',
    'a..b@c.example',
    'a@b..example',
    'a@-b.example',
    'a@b-.example',
    'a@b_c.example',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@0x7f.1',
    'a@１２７.０.０.１',
    'a@xn--a.example',
    'a@b%2eexample.org',
    'a@b.example/x',
    'é@b.example',
    '""@b.example',
    '"a"b@c.example',
    '"a\u0001"@c.example',
    '"é"@c.example',
    `${'l'.repeat(65)}@b.example`,
    `${'l'.repeat(64)}@${long}${'d'.repeat(9)}.example`,
    `a@${'d'.repeat(64)}.example`,
    'a@b.example, c@d.example',
    'a@b.example; c@d.example',
    'a@b.example c@d.example',
    'g: a@b.c, e@x.y;',
    'g:a@b.example;',
    'undisclosed-recipients:;',
    '@r.example:a@b.example',
    '<@r.example:a@b.example>',
    'a@b.example (comment)',
    '(comment) a@b.example',
    'Ann (A) <a@b.example>',
    'Lee, Ann <a@b.example>',
    'Ann <a@b.example> x',
    'Ann <a@b.example',
    'Ann a@b.example>',
    'Ann <<a@b.example>>',
    'Ann <a@b.example><c@d.example>',
    'c@d.example <a@b.example>',
    '"Ann <a@b.example>',
    'Ann < a@b.example >',
    `${'n'.repeat(257)} <a@b.example>`,
    'a@b.c>\r\nRCPT TO:<evil@x.y',
    'a@b.c\r\nBcc: evil@x.y',
    'a@b.c\nBcc: evil@x.y',
    'a@b.c\rBcc: evil@x.y',
    'Ann\r\nBcc: evil@x.y <a@b.example>',
    '"Ann\r\n x" <a@b.example>',
    'a@b.c\u0000',
    'a\u0000@b.c',
    'a@b.c\r\n',
    'Ann\u0085 <a@b.example>',
    'Ann\ud800 <a@b.example>',
    `"${'\\"'.repeat(600)}`,
  ]
  for (const text of wrong)
    test(`refuses ${JSON.stringify(text.slice(0, 60))}`, () => expect(parseAddress(text)).toBeUndefined())

  test('costs at most a microsecond a character', () => {
    const started = performance.now()
    for (const text of ['a '.repeat(512), '"a" '.repeat(256), `${'a.'.repeat(500)}@`, `"${'\\\\'.repeat(510)}`])
      parseAddress(text)
    expect(performance.now() - started).toBeLessThan(50)
  })
})

describe('canonicalDomain', () => {
  test('converts Unicode to an A-label', () => {
    expect(canonicalDomain('München.例え.example')).toBe('xn--mnchen-3ya.xn--r8jz45g.example')
    expect(canonicalDomain('例え。example')).toBe('xn--r8jz45g.example')
    expect(canonicalDomain('faß.example')).toBe('xn--fa-hia.example')
  })
  test('refuses what is not a domain', () => {
    for (const text of [
      '',
      '.',
      'a',
      'a.',
      '.a.b',
      'a b.c',
      'a/b.c',
      'a:1.b',
      '[::1]',
      '1.2.3.4',
      '＠.example',
      `${'é'.repeat(63)}.example`,
      '\u00ad.example',
      'a\u200d.example',
    ])
      expect([text, canonicalDomain(text)]).toEqual([text, undefined])
  })
})

test('splits at the last @', () => {
  expect(splitAddress('"a@b"@c.example')).toEqual({ localPart: '"a@b"', domain: 'c.example' })
})

test('formats an address that parses to the same address', () => {
  for (const name of ['', 'Ann', 'Ann B. Lee', 'Lee, Ann', 'a"b\\c', '  x', 'Zoë', 'x@y', 'a  b', '<', ':;'])
    expect(parseAddress(formatAddress({ address: 'a@b.example', name }))).toEqual({
      address: 'a@b.example',
      name: name.trim(),
    })
  expect(formatAddress({ address: 'a@b.example', name: 'Lee, Ann' })).toBe('"Lee, Ann" <a@b.example>')
})
