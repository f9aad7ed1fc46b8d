import { expect, test } from 'bun:test'
import { parsePath } from './path.ts'

const address = (verb: 'MAIL FROM' | 'RCPT TO', path: string, smtputf8 = false) => {
  const result = parsePath(verb, `${verb}:${path}`, smtputf8)
  return result.kind === 'path' ? result.address : result.code
}

const long = `${'a'.repeat(60)}@${'b.'.repeat(100)}test`

const senders: Readonly<Record<string, string>> = {
  '<>': '',
  '<a@b.test>': 'a@b.test',
  ' <a@b.test>': 'a@b.test',
  '<bounce+a=b.test@x.test>': 'bounce+a=b.test@x.test',
  '<"a b"@x.test>': '"a b"@x.test',
  '<"a>b"@x.test>': '"a>b"@x.test',
  '<a@[192.0.2.1]>': 'a@[192.0.2.1]',
  '<a..b.@docomo.test>': 'a..b.@docomo.test',
  '<root@localhost>': 'root@localhost',
  '<@r:a@b.test>': 'sender_not_allowed',
  '<@r,@s:a@b.test>': 'sender_not_allowed',
  '<a%b@c.test>': 'sender_not_allowed',
  '<b!a@c.test>': 'sender_not_allowed',
  '<"a@b"@c.test>': 'sender_not_allowed',
  'a@b.test': 'sender_malformed',
  ' a@b.test': 'sender_malformed',
  'a@b.test SIZE=5': 'sender_malformed',
  '"a b"@x.test': 'sender_malformed',
  '<a@b.test': 'sender_malformed',
  '<a@b@c.test>': 'sender_malformed',
  '<a>': 'sender_malformed',
  '<a b@c.test>': 'sender_malformed',
  '<a@b.test> x=\u0001': 'sender_malformed',
  '<a\u200b@b.test>': 'sender_malformed',
  '<a@b..test>': 'sender_malformed',
  [`<${long}>`]: 'sender_malformed',
  '<é@b.test>': 'smtputf8_required',
  '<é@b.test> SMTPUTF8': 'é@b.test',
  '<a@b.test> SIZE=1 SIZE=2': 'parameter_malformed',
  '<a@b.test> =': 'parameter_malformed',
}

for (const [path, expected] of Object.entries(senders))
  test(`MAIL FROM:${path.slice(0, 40)}`, () => expect(address('MAIL FROM', path)).toBe(expected))

const recipients: Readonly<Record<string, string>> = {
  '<a@b.test>': 'a@b.test',
  '<Postmaster>': 'Postmaster',
  '<"a b"@x.test>': '"a b"@x.test',
  '<>': 'address_malformed',
  'a@b.test': 'address_malformed',
  ' a@b.test': 'address_malformed',
  'a@b.test NOTIFY=NEVER': 'address_malformed',
  '"a b"@x.test': 'address_malformed',
  postmaster: 'address_malformed',
  '<a@b.test': 'address_malformed',
  'a@b.test>': 'address_malformed',
  '<a>': 'address_malformed',
  '<a..b@x.test>': 'address_malformed',
  '<@r:a@b.test>': 'relay_denied',
  '<a%b@c.test>': 'relay_denied',
  '<"a%b"@c.test>': 'relay_denied',
  '<b!a@c.test>': 'relay_denied',
  '<"a@b"@c.test>': 'relay_denied',
  '<a@[192.0.2.1]>': 'relay_denied',
  '<é@b.test>': 'smtputf8_required',
  '<a@bücher.test>': 'smtputf8_required',
}

for (const [path, expected] of Object.entries(recipients))
  test(`RCPT TO:${path}`, () => expect(address('RCPT TO', path)).toBe(expected))

test('accepts non-ASCII addresses after MAIL with SMTPUTF8', () => {
  expect(address('RCPT TO', '<用户@例子.测试>', true)).toBe('用户@例子.测试')
  expect(address('RCPT TO', '<\ufffd@b.test>', true)).toBe('address_malformed')
})

test('parses parameters in any case', () => {
  const result = parsePath('MAIL FROM', 'mail from:<a@b.test> size=5 Body=8BITMIME  SMTPUTF8', false)
  expect(result.kind === 'path' && Object.fromEntries(result.parameters)).toEqual({
    SIZE: '5',
    BODY: '8BITMIME',
    SMTPUTF8: '',
  })
})

test('parses lines made for backtracking quickly', () => {
  const started = performance.now()
  for (const part of ['"', '\\', '""', '"a', ' ', '<', '.a', 'a.'])
    parsePath('RCPT TO', `RCPT TO:<${part.repeat(2000)}`, true)
  expect(performance.now() - started).toBeLessThan(200)
})
