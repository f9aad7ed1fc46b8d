import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { dkimSign } from 'mailauth'
import { newKeyCache, newReadKeys } from '../../../src/ports/authenticator/mailauth/key-cache.ts'
import { mailauthResolver } from '../../../src/ports/authenticator/mailauth/resolver.ts'
import { verifySignatures } from '../../../src/ports/authenticator/mailauth/signatures.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { startDns, type TestDns } from '../../harness/dns.ts'

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    record: `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`,
  }
}

const [key, otherKey] = [keyPair(), keyPair()]
const name = 's1._domainkey.sender.example'
const plain = 'From: Alice <alice@sender.example>\r\nSubject: Hello\r\n\r\nHello Bob.\r\n'
let dns: TestDns
beforeAll(async () => {
  dns = await startDns()
})
afterAll(() => dns.close())

const strict = { strict: true, hashAlgo: 'sha256' }

test('a message is verified with the record that stands now, whatever was read before', async () => {
  const readKeys = newReadKeys()
  const signing = { signingDomain: 'sender.example', selector: 's1', privateKey: key.privateKey }
  const { signatures } = await dkimSign(plain, { ...signing, signatureData: [signing] })
  const bytes = Buffer.from(signatures + plain)
  /** By a resolver of its own, which has no answers in its cache. */
  const resultWith = async (records: readonly string[]) => {
    dns.zone[name] = { TXT: [...records] }
    const resolver = mailauthResolver(
      networkResolver({ servers: [dns.endpoint], timeoutMs: 1000 }),
      AbortSignal.timeout(5000),
    )
    const { verifier } = await verifySignatures({ kind: 'memory', bytes, size: bytes.length }, resolver, readKeys)
    const { result, comment = '' } = verifier.results[0]?.status ?? { result: 'none' }
    return `${result} ${comment}`.trim()
  }
  expect(await resultWith([key.record])).toBe('pass')
  expect(await resultWith([key.record])).toBe('pass')
  expect(await resultWith([otherKey.record])).toBe('fail bad signature')
  expect(await resultWith([key.record])).toBe('pass')
  expect(await resultWith(['v=DKIM1; p='])).toBe('neutral invalid public key')
  expect(await resultWith([`${key.record}; h=sha1`])).toBe('neutral inappropriate hash algorithm')
  expect(await resultWith([])).toBe('neutral no key')
  expect(await resultWith([key.record])).toBe('pass')
})

test('a record is read once for all messages, and asked for once for each', async () => {
  const readKeys = newReadKeys()
  const asked: string[] = []
  const resolver = async (question: string) => {
    asked.push(question)
    return [[key.record]]
  }
  const first = newKeyCache(resolver, readKeys)
  const [one, again] = await Promise.all([
    first.get('DKIM', name, undefined, strict),
    first.get('AS', name, undefined, strict),
  ])
  const other = await newKeyCache(resolver, readKeys).get('DKIM', name, undefined, strict)
  expect(again).toBe(one)
  expect(other).toBe(one)
  expect(asked).toEqual([name, name])
})

test('what a record says is read apart for each hash algorithm', async () => {
  const readKeys = newReadKeys()
  const cache = newKeyCache(async () => [[`${key.record}; h=sha256`]], readKeys)
  expect(await cache.get('DKIM', name, undefined, strict)).toMatchObject({ keyType: 'rsa', modulusLength: 2048 })
  const asked = cache.get('DKIM', name, undefined, { ...strict, hashAlgo: 'sha1' })
  await expect(asked).rejects.toMatchObject({ code: 'EINVALIDHASH' })
})
