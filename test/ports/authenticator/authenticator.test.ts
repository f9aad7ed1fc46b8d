import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { tmpdir } from 'node:os'
import { authenticate, dkimSign, sealMessage } from 'mailauth'
import { createTransport } from 'nodemailer'
import type { MessageSource } from '../../../src/mail/message-source.ts'
import { mailauthAuthenticator } from '../../../src/ports/authenticator/mailauth/mailauth.ts'
import type { AuthenticationInput, Authenticator, Verdicts } from '../../../src/ports/authenticator/port.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import type { Resolver } from '../../../src/ports/resolver/port.ts'
import { startDns, type TestDns } from '../../harness/dns.ts'

function keyPair(bits: number) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    record: `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`,
  }
}

const key = keyPair(2048)
const sender = 'sender.example'
const keyName = `s1._domainkey.${sender}`
const plain = [
  `From: Alice <alice@${sender}>`,
  'To: bob@demo.example',
  'Subject: Hello',
  'Date: Mon, 01 Jan 2029 00:00:00 +0000',
  `Message-ID: <1@${sender}>`,
  '',
  'Hello Bob,',
  '',
  'this is all.',
  '',
].join('\r\n')

let dns: TestDns
let resolver: Resolver
let authenticator: Authenticator

beforeAll(async () => {
  dns = await startDns()
})
afterAll(() => dns.close())
beforeEach(() => {
  for (const name of Object.keys(dns.zone)) delete dns.zone[name]
  Object.assign(dns.zone, {
    [sender]: { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    [keyName]: { TXT: [key.record] },
    [`_dmarc.${sender}`]: { TXT: ['v=DMARC1; p=reject'] },
  })
  resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 100 })
  authenticator = mailauthAuthenticator({ resolver, hostname: 'mx.demo.example', messageTimeoutMs: 5000 })
})

const inMemory = (message: string | Buffer): MessageSource => {
  const bytes = Buffer.from(message)
  return { kind: 'memory', bytes, size: bytes.length }
}

function check(message: string | Buffer, input: Partial<AuthenticationInput> = {}): Promise<Verdicts> {
  return authenticator.authenticate({
    content: inMemory(message),
    remoteIp: '192.0.2.1',
    helo: `mx.${sender}`,
    mailFrom: `alice@${sender}`,
    ...input,
  })
}

interface Signing {
  readonly domain?: string
  readonly selector?: string
  readonly privateKey?: string
  readonly canonicalization?: string
  readonly maxBodyLength?: number
}

async function sign(message: string, how: Signing = {}): Promise<string> {
  const signature = {
    signingDomain: how.domain ?? sender,
    selector: how.selector ?? 's1',
    privateKey: how.privateKey ?? key.privateKey,
    canonicalization: how.canonicalization ?? 'relaxed/relaxed',
    ...(how.maxBodyLength === undefined ? {} : { maxBodyLength: how.maxBodyLength }),
  }
  const { signatures, errors } = await dkimSign(message, { ...signature, signatureData: [signature] })
  expect(errors).toEqual([])
  return signatures
}

const elsewhere = { remoteIp: '198.51.100.1' }

test('passes SPF, DKIM and DMARC for a signed message from the right host', async () => {
  const verdicts = await check((await sign(plain)) + plain)
  expect(verdicts).toEqual({
    spf: {
      result: 'pass',
      domain: sender,
      aligned: true,
      detail: `domain of alice@${sender} designates 192.0.2.1 as permitted sender`,
    },
    dkim: { result: 'pass', domain: sender, aligned: true, detail: 'selector s1, rsa-sha256' },
    dmarc: {
      result: 'pass',
      domain: sender,
      aligned: true,
      detail: `policy of ${sender}: p=REJECT`,
      policy: 'reject',
    },
    arc: { result: 'none', domain: null, aligned: null, detail: null, sealer: null },
    from: [`alice@${sender}`],
  })
})

test('passes a message that nodemailer signed with a 2048-bit key', async () => {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    dkim: { domainName: sender, keySelector: 's1', privateKey: key.privateKey },
  })
  const sent = await transport.sendMail({
    from: `alice@${sender}`,
    to: 'bob@demo.example',
    text: 'Grüße',
    html: '<b>!',
  })
  const verdicts = await check(sent.message as Buffer, elsewhere)
  expect(verdicts).toMatchObject({ spf: { result: 'fail' }, dkim: { result: 'pass' }, dmarc: { result: 'pass' } })
})

test('fails a message that was changed, and one that is not signed', async () => {
  const signed = (await sign(plain)) + plain
  const changed = await check(signed.replace('Hello Bob', 'Hello Rob'), elsewhere)
  expect(changed).toMatchObject({
    spf: { result: 'fail', aligned: true },
    dkim: { result: 'fail', domain: sender, aligned: true },
    dmarc: { result: 'fail', aligned: false, policy: 'reject' },
  })
  expect(changed.dkim.detail).toContain('body hash did not verify')
  const unsigned = await check(plain, elsewhere)
  expect(unsigned.dkim).toMatchObject({ result: 'none', domain: null, aligned: null })
  expect(unsigned.dmarc.result).toBe('fail')
})

test('gives the results of mailauth itself, for a message in memory and in a file', async () => {
  const multipart = plain.replace('Date:', 'Content-Type: multipart/mixed; boundary=b\r\nMIME-Version: 1.0\r\nDate:')
  const messages = [
    plain,
    multipart,
    plain.replace('Hello Bob,', `Hello \t ${'x'.repeat(70_000)}  \r\n\r\n\r\n`),
    plain.slice(0, plain.indexOf('\r\n\r\n') + 4),
    `${plain}\r\n\r\n\r\n`,
    plain + `${'x'.repeat(997)} y\r\n`.repeat(2200),
  ]
  for (const message of messages)
    for (const canonicalization of ['relaxed/relaxed', 'simple/simple', 'relaxed/simple']) {
      const signed = (await sign(message, { canonicalization })) + message
      const theirs = await authenticate(signed, {
        ip: '192.0.2.1',
        helo: 'x.example',
        sender: `alice@${sender}`,
        strict: true,
        disableBimi: true,
        resolver: async (name, type) => {
          const answer = await resolver.resolve(name, type as 'TXT')
          if (answer.kind !== 'found') throw Object.assign(new Error(answer.why), { code: 'ENOTFOUND' })
          return answer.records.map(record => [record])
        },
      })
      expect(theirs.dkim.results[0]?.status.result).toBe('pass')
      const path = `${tmpdir()}/authenticator-${process.pid}.eml`
      await Bun.write(path, signed)
      const file: MessageSource = { kind: 'file', path, size: signed.length }
      expect((await check(signed)).dkim.result).toBe('pass')
      expect((await check('', { content: file })).dkim.result).toBe('pass')
      await Bun.file(path).delete()
    }
})

test('rejects when a spooled file is gone', async () => {
  const content: MessageSource = { kind: 'file', path: '/nowhere/at/all.eml', size: 1 }
  expect(check('', { content })).rejects.toThrow()
})

test('checks the bytes with CRLF line ends, whatever they came with', async () => {
  const signed = (await sign(plain)) + plain
  expect((await check(signed.replaceAll('\r\n', '\n'))).dkim.result).toBe('pass')
  expect((await check(signed.replaceAll('\r\n', '\r'))).dkim.result).toBe('pass')
})

test('sees a From field behind a bare CR', async () => {
  const verdicts = await check(plain.replace('Subject: Hello', 'Subject: Hello\rFrom: ceo@bank.example'))
  expect(verdicts.from).toEqual([`alice@${sender}`, 'ceo@bank.example'])
})

test('fails a signature whose l= leaves bytes unsigned', async () => {
  const whole = plain.length - plain.indexOf('\r\n\r\n') - 4
  const covered = (await sign(plain, { maxBodyLength: whole })) + plain
  expect((await check(covered, elsewhere)).dmarc.result).toBe('pass')
  const appended = `${covered}and this was added\r\n`
  const verdicts = await check(appended, elsewhere)
  expect(verdicts).toMatchObject({ dkim: { result: 'fail' }, dmarc: { result: 'fail' } })
  expect(verdicts.dkim.detail).toStartWith('l= leaves 20 bytes of the body unsigned')
})

test('checks ten signatures of a hundred', async () => {
  const good = await sign(plain)
  const bad = Array.from({ length: 99 }, (_, i) =>
    good.replace(/s=s1/, `s=n${i}`).replace('DKIM-Signature: ', `DKIM-Signature: l=${i}; `),
  ).join('')
  const started = performance.now()
  const first = await check(good + bad + plain)
  expect(first.dkim).toMatchObject({ result: 'pass', domain: sender })
  expect(first.dkim.detail).toContain('10 of 100 signatures were checked')
  expect(dns.questions.filter(question => question.name.includes('._domainkey.')).length).toBeLessThanOrEqual(10)
  expect((await check(bad + good + plain)).dkim.result).not.toBe('pass')
  expect(performance.now() - started).toBeLessThan(1000)
})

test('refuses a key of 16384 bits without computing with it', async () => {
  const giant = Buffer.concat([
    Buffer.from('3082080a02820801', 'hex'),
    Buffer.alloc(2049, 0xff),
    Buffer.from('0203010001', 'hex'),
  ])
  dns.zone[keyName] = { TXT: [`v=DKIM1; k=rsa; p=${giant.toString('base64')}`] }
  const verdicts = await check((await sign(plain)) + plain, elsewhere)
  expect(verdicts).toMatchObject({ dkim: { result: 'policy', domain: sender }, dmarc: { result: 'fail' } })
  expect(verdicts.dkim.detail).toStartWith('the key is longer than 4096 bits')
})

test('accepts keys of 4096 bits, and none of 768', async () => {
  const long = keyPair(4096)
  dns.zone[keyName] = { TXT: [long.record] }
  expect((await check((await sign(plain, long)) + plain)).dkim.result).toBe('pass')
  dns.zone[`s2._domainkey.${sender}`] = { TXT: [keyPair(768).record] }
  const verdicts = await check((await sign(plain, { selector: 's2' })) + plain)
  expect(verdicts.dkim).toMatchObject({ result: 'policy', detail: 'weak-key; selector s2, rsa-sha256' })
})

test('trims and lower-cases the tags of a DMARC policy', async () => {
  dns.zone[`_dmarc.${sender}`] = { TXT: ['v=DMARC1; p= Reject ; adkim = S; aspf=S '] }
  const signed = (await sign(plain, { domain: `mail.${sender}` })) + plain
  dns.zone[`s1._domainkey.mail.${sender}`] = { TXT: [key.record] }
  const verdicts = await check(signed, elsewhere)
  expect(verdicts).toMatchObject({
    dkim: { result: 'pass', aligned: false },
    dmarc: { result: 'fail', policy: 'reject' },
  })
})

test('applies sp, np and t, and walks the tree (RFC 9989)', async () => {
  const from = (domain: string) => check(plain.replace(`alice@${sender}`, `alice@${domain}`), elsewhere)
  dns.zone[`_dmarc.${sender}`] = { TXT: ['v=DMARC1; p=reject; sp=quarantine; np=none'] }
  dns.zone[`there.${sender}`] = { A: ['192.0.2.9'] }
  expect((await from(sender)).dmarc).toMatchObject({ result: 'fail', policy: 'reject' })
  expect((await from(`there.${sender}`)).dmarc).toMatchObject({ result: 'fail', policy: 'quarantine' })
  expect((await from(`absent.${sender}`)).dmarc).toMatchObject({ result: 'fail', policy: 'none' })
  dns.zone['_dmarc.testing.example'] = { TXT: ['v=DMARC1; p=reject; t=y'] }
  expect((await from('testing.example')).dmarc).toMatchObject({ result: 'fail', policy: 'quarantine' })
  dns.zone['_dmarc.uni.suffix'] = { TXT: ['v=DMARC1; p=reject; psd=n'] }
  dns.zone['_dmarc.suffix'] = { TXT: ['v=DMARC1; p=none; psd=y'] }
  expect((await from('cs.uni.suffix')).dmarc).toMatchObject({ policy: 'reject', domain: 'cs.uni.suffix' })
  expect((await from('other.suffix')).dmarc).toMatchObject({ policy: 'none' })
  expect((await from('silent.invalid')).dmarc).toMatchObject({ result: 'none', policy: null, aligned: null })
})

test('reports the addresses of all From fields', async () => {
  const two = plain.replace('To:', 'From: ceo@bank.example\r\nTo:')
  expect((await check((await sign(two)) + two)).from).toEqual([`alice@${sender}`, 'ceo@bank.example'])
  expect((await check((await sign(two)) + two)).dmarc).toMatchObject({ result: 'permerror', policy: null })
  expect((await check(plain.replace('To:', 'From:\r\nTo:'))).from.length).toBe(2)
  const list = plain.replace(`<alice@${sender}>`, `<alice@${sender}>, ceo@bank.example`)
  expect((await check(list)).from).toEqual([`alice@${sender}`, 'ceo@bank.example'])
  expect((await check(plain.replace(/^From/, 'X-From'))).from).toEqual([])
  expect((await check(plain.replace(/^From: /, 'FROM\t:\r\n '))).from).toEqual([`alice@${sender}`])
})

test('reports DNS errors as temperror, and does not fail DMARC for them', async () => {
  dns.zone[sender] = { behaviour: { rcode: 'SERVFAIL' } }
  dns.zone[keyName] = { behaviour: { silent: true } }
  const signed = (await sign(plain)) + plain
  const verdicts = await check(signed)
  expect(verdicts).toMatchObject({
    spf: { result: 'temperror' },
    dkim: { result: 'temperror', domain: sender },
    dmarc: { result: 'temperror', aligned: null },
  })
  dns.zone[`_dmarc.${sender}`] = { behaviour: { rcode: 'REFUSED' } }
  resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 100 })
  authenticator = mailauthAuthenticator({ resolver, hostname: 'mx.demo.example', messageTimeoutMs: 5000 })
  expect((await check(plain)).dmarc).toMatchObject({ result: 'temperror', policy: null })
})

test('a DNS error for a domain that does not align leaves DMARC a fail', async () => {
  dns.zone['s1._domainkey.other.example'] = { behaviour: { rcode: 'SERVFAIL' } }
  const signed = (await sign(plain, { domain: 'other.example' })) + plain
  expect((await check(signed, elsewhere)).dmarc.result).toBe('fail')
})

test('ends within the time limit of a message', async () => {
  for (const name of [sender, keyName, `_dmarc.${sender}`]) dns.zone[name] = { behaviour: { silent: true } }
  const slow = networkResolver({ servers: [dns.endpoint], timeoutMs: 2000 })
  const hurried = mailauthAuthenticator({ resolver: slow, hostname: 'mx.demo.example', messageTimeoutMs: 100 })
  const started = performance.now()
  const verdicts = await hurried.authenticate({
    content: inMemory((await sign(plain)) + plain),
    remoteIp: '192.0.2.1',
    helo: 'x.example',
    mailFrom: `alice@${sender}`,
  })
  expect(verdicts).toMatchObject({ spf: { result: 'temperror' }, dkim: { result: 'temperror' } })
  expect(verdicts.dmarc.result).toBe('temperror')
  expect(performance.now() - started).toBeLessThan(1000)
})

test('checks the HELO name of a null reverse-path', async () => {
  dns.zone[`mx.${sender}`] = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }
  const verdicts = await check(plain, { mailFrom: '' })
  expect(verdicts).toMatchObject({
    spf: { result: 'pass', domain: `mx.${sender}`, aligned: true },
    dmarc: { result: 'pass' },
  })
  expect((await check(plain, { mailFrom: '', helo: '192.0.2.1' })).spf.result).toBe('none')
})

test('verifies an ARC chain and names its sealer', async () => {
  dns.zone['arc._domainkey.list.example'] = { TXT: [key.record] }
  const signed = (await sign(plain)) + plain
  const seal = await sealMessage(Buffer.from(signed), {
    signingDomain: 'list.example',
    selector: 'arc',
    privateKey: key.privateKey,
    authResults: 'list.example; spf=pass; dmarc=pass header.from=sender.example',
    cv: 'none',
  })
  const verdicts = await check(seal.toString() + signed)
  expect(verdicts.arc).toMatchObject({ result: 'pass', domain: 'list.example', sealer: 'list.example', aligned: null })
  expect(verdicts.dkim.result).toBe('pass')
  const changed = await check(seal.toString() + signed.replace('Hello Bob', 'Hello Rob'))
  expect(changed.arc).toMatchObject({ result: 'fail', sealer: 'list.example' })
  const many = seal.toString().repeat(11)
  expect((await check(many + signed)).arc).toMatchObject({ result: 'fail', detail: 'more than 10 ARC sets' })
})

test('no message takes long, whatever it contains', async () => {
  const signature = (tags: string) =>
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${sender}; s=s1; h=from; bh=aaaa; ${tags}; b=aaaa\r\n`
  const good = await sign(plain)
  const messages = [
    `${signature(`n=${' \r\n '.repeat(20_000)}a`).repeat(3)}${plain}`,
    `${signature(`z=${'x:'.repeat(20_000)}`).repeat(3)}${plain}`,
    `${signature(`n=${' '.repeat(250)}a`.repeat(20)).repeat(100)}${plain}`,
    `${good}X: y\r\n${' a\r\n'.repeat(60_000)}${plain}`,
    `${good}${'a:\r\n'.repeat(60_000)}${plain}`,
    `${good}Content-Type: multipart/mixed; ${Array.from({ length: 15_000 }, (_, i) => `a*${i}*=%41`).join(';')}\r\n${plain}`,
    `From: ${'a@b.c, '.repeat(30_000)}\r\n${plain}`,
    `${'x'.repeat(300_000)}`,
    `${good}${plain}${'\n'.repeat(250_000)}`,
    `${good}${plain}${'a\n'.repeat(120_000)}`,
    `${good}${plain}${'\r'.repeat(250_000)}`,
    `${good}${plain}${' \t'.repeat(120_000)}`,
    '',
    '\r\n',
    'From',
  ]
  for (const message of messages) {
    const started = performance.now()
    const verdicts = await check(message)
    expect(verdicts.arc.result).toBe('none')
    expect(performance.now() - started).toBeLessThan(300)
  }
  const field = `${good}Content-Type: text/plain; ${'x'.repeat(9000)}\r\n${plain}`
  expect((await check(field)).dkim).toMatchObject({ result: 'permerror' })
  expect((await check(`${'a: b\r\n'.repeat(1001)}${good}${plain}`)).dkim).toMatchObject({ result: 'permerror' })
  for (const tags of ['x=y'.repeat(9000), `n=${' '.repeat(300)}a`])
    expect((await check(`${signature(tags)}${plain}`)).dkim).toMatchObject({ result: 'permerror' })
})

test('a large spooled message of bare LF does not take seconds', async () => {
  const message = (await sign(plain)) + plain + '\n'.repeat(5_000_000)
  const path = `${tmpdir()}/authenticator-lf-${process.pid}.eml`
  await Bun.write(path, message)
  const started = performance.now()
  const verdicts = await check('', { content: { kind: 'file', path, size: message.length } })
  expect(verdicts.dkim.result).toBe('pass')
  expect(performance.now() - started).toBeLessThan(1500)
  await Bun.file(path).delete()
})
