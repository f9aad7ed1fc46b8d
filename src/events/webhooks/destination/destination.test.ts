import { expect, test } from 'bun:test'
import type { DnsAnswer, RecordData, RecordType, Resolver } from '../../../ports/resolver/port.ts'
import { checkDestination, readDestinationUrl } from './destination.ts'

const policy = { allowedNetworks: [], allowsHttp: false }

test.each([
  ['', 'url'],
  ['example.com/hook', 'url'],
  [`https://example.com/${'a'.repeat(2100)}`, 'url'],
  ['http://example.com/', 'scheme'],
  ['ftp://example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://example.com/', 'scheme'],
  ['https://user:password@example.com/', 'credentials'],
  ['https://user@example.com/', 'credentials'],
])('the URL %p is refused by the rule %p', (text, rule) => {
  expect(readDestinationUrl(text, policy)).toMatchObject({ kind: 'refused', rule })
})

test('a URL is taken in its canonical form, http only where it is allowed', () => {
  expect(String(readDestinationUrl('HTTPS://Example.COM.:443/a?b#c', policy))).toBe('https://example.com/a?b')
  expect(String(readDestinationUrl('http://example.com/', { allowsHttp: true }))).toBe('http://example.com/')
})

/** A resolver with these addresses for every name. */
function resolverOf(addresses: {
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[] | 'failed'
}): Resolver {
  return {
    async resolve<Type extends RecordType>(_name: string, type: Type) {
      const records = type === 'A' ? addresses.A : type === 'AAAA' ? addresses.AAAA : undefined
      if (records === 'failed') return { kind: 'failed', why: 'SERVFAIL' } as const
      if (!records) return { kind: 'none', why: 'nodata' } as const
      return { kind: 'found', records, ttlSeconds: 60 } as unknown as DnsAnswer<RecordData[Type]>
    },
  }
}

const check = (
  text: string,
  addresses: Parameters<typeof resolverOf>[0] = {},
  allowedNetworks: readonly string[] = [],
) => {
  const url = readDestinationUrl(text, policy)
  return url instanceof URL ? checkDestination(url, { ...policy, allowedNetworks }, resolverOf(addresses)) : url
}

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[0:0:0:0:0:ffff:7f00:1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[2002:7f00:1::]/',
  'https://１２７.0.0.1/',
])('%s is loopback in any spelling', async text => {
  expect(await check(text)).toMatchObject({ kind: 'refused', rule: 'loopback' })
})

test('one refused address of a name refuses all, and the rule, the address and the network are named', async () => {
  expect(await check('https://hooks.test/', { A: ['8.8.8.8', '10.1.2.3'] })).toEqual({
    kind: 'refused',
    rule: 'private',
    message:
      'The URL is refused by the rule `private`: hooks.test is 10.1.2.3, which is in 10.0.0.0/8, and webhooks go to public addresses only.',
  })
  expect(await check('https://hooks.test/', { A: ['8.8.8.8'], AAAA: ['::ffff:169.254.169.254'] })).toMatchObject({
    rule: 'metadata',
  })
})

test('a name without an address is refused; one of which an address may be missing is not delivered to', async () => {
  expect(await check('https://hooks.test/')).toMatchObject({ kind: 'refused', rule: 'no_address' })
  expect(await check('https://hooks.test/', { A: ['8.8.8.8'], AAAA: 'failed' })).toMatchObject({ kind: 'unresolved' })
})

test('a network that is allowed is no more than that network', async () => {
  expect(await check('https://hooks.test/', { A: ['10.1.2.3'] }, ['10.1.0.0/16'])).toMatchObject({
    kind: 'allowed',
    address: '10.1.2.3',
  })
  expect(await check('https://hooks.test/', { A: ['10.2.2.3'] }, ['10.1.0.0/16'])).toMatchObject({ rule: 'private' })
})
