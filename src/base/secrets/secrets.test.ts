import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecretFile, readSecretFile, readSecretKeys, type SealedSecret, secretsOf } from './secrets.ts'

const one = randomBytes(32)
const other = randomBytes(32)
const secrets = secretsOf([one])

test('opens what it sealed, for the same place only', () => {
  const sealed = secrets.seal('the secret ü', 'here')
  expect(sealed.keyId).toBe(secrets.id)
  expect(secrets.open(sealed, 'here')).toBe('the secret ü')
  expect(() => secrets.open(sealed, 'there')).toThrow()
})

test('seals the same secret to a different text each time', () => {
  const texts = [1, 2].map(() => secrets.seal('the secret', 'here').text)
  expect(texts[0]).not.toBe(texts[1])
  expect(Buffer.from(texts[0] ?? '', 'base64').includes('the secret')).toBe(false)
})

test('opens nothing of which one bit was changed', () => {
  const { keyId, text } = secrets.seal('the secret', 'here')
  const bytes = Buffer.from(text, 'base64')
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => secrets.open({ keyId, text: changed.toString('base64') }, 'here')).toThrow()
  }
  const short: SealedSecret = { keyId, text: bytes.subarray(0, 20).toString('base64') }
  expect(() => secrets.open(short, 'here')).toThrow()
})

test('seals with the first key and opens with all keys', () => {
  const changing = secretsOf([other, one])
  const old = secrets.seal('the secret', 'here')
  expect(changing.open(old, 'here')).toBe('the secret')
  const renewed = changing.seal('the secret', 'here')
  expect(secretsOf([other]).open(renewed, 'here')).toBe('the secret')
  expect(() => secrets.open(renewed, 'here')).toThrow(`the secret key ${changing.id} is unknown to this process`)
  expect(changing.ids).toEqual([secretsOf([other]).id, secrets.id])
})

test('has an id that does not reveal the key', () => {
  expect(secrets.id).toMatch(/^[0-9a-f]{16}$/)
  expect(one.toString('hex')).not.toContain(secrets.id)
})

test.each([
  ['', 0],
  ['AAAA', 0],
  [randomBytes(31).toString('base64'), 0],
  [randomBytes(33).toString('base64'), 0],
  [one.toString('hex'), 0],
  [`${one.toString('base64')},`, 0],
  [one.toString('base64'), 1],
  [`${one.toString('base64')} , ${other.toString('base64')}\n`, 2],
])('reads keys: %p has %d', (text, count) => {
  expect(readSecretKeys(text)?.length ?? 0).toBe(count)
})

test('creates one secret file in a folder, which nobody else may read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-secret-'))
  try {
    expect(readSecretFile(folder)).toBeUndefined()
    createSecretFile(folder)
    const made = readSecretFile(folder)
    createSecretFile(folder)
    expect(readSecretFile(folder)?.id).toBe(made?.id ?? '')
    expect(readdirSync(folder)).toEqual(['secret.key'])
    expect(statSync(join(folder, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(readSecretKeys(readFileSync(join(folder, 'secret.key'), 'utf8'))).toHaveLength(1)
    writeFileSync(join(folder, 'secret.key'), 'not a key')
    expect(() => readSecretFile(folder)).toThrow('secret.key does not hold a secret key')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
