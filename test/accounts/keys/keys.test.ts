import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  createKey,
  disableKey,
  enableKey,
  listKeys,
  openKeyAuthenticator,
  revokeKey,
} from '../../../src/accounts/keys/keys.ts'
import { createOrganization } from '../../../src/accounts/organizations/organizations.ts'
import type { Id } from '../../../src/base/ids.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { testClock } from '../../harness/http-server.ts'

let database: FreshDatabase
let organizationId: Id<'org'>
const clock = testClock()

beforeAll(async () => {
  database = await freshDatabase()
  organizationId = (await createOrganization(database.db, { name: 'A', plan: 'unlimited' }, clock)).id
})
afterAll(() => database.close())

const newKey = () =>
  createKey(
    database.db,
    { organizationId, brandId: null, name: 'k', scopes: ['email:send', 'email:send', 'inbox:read'], expiresAt: null },
    clock,
  )

test('creates keys of the documented form and stores no secret', async () => {
  const { id, key } = await newKey()
  expect(key).toMatch(/^mrk_[0-9a-z]{26}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
  expect(key.slice(4, 30)).toBe(id.slice(4))
  const row = await database.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const secret = key.slice(31, 74)
  for (const value of Object.values(row)) expect(Buffer.from(String(value)).includes(secret)).toBe(false)
  expect(new Bun.CryptoHasher('sha256').update(secret).digest('hex')).toBe(row.secret_hash.toString('hex'))
})

test('rejects any other secret, even with a valid checksum', async () => {
  const [{ key }, { key: other }] = [await newKey(), await newKey()]
  const forged = `${key.slice(0, 31)}${other.slice(31, 74)}`
  const digits = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
  let rest = Bun.hash.crc32(forged)
  let crc = ''
  for (let i = 0; i < 6; i++) {
    crc = (digits[rest % 62] ?? '') + crc
    rest = Math.floor(rest / 62)
  }
  const keyring = openKeyAuthenticator(database.db, clock)
  const refusal = await keyring.authenticate(`Bearer ${forged}_${crc}`).catch(error => error)
  expect([refusal.code, refusal.message]).toEqual([
    'invalid_api_key',
    `There is no API key key_${key.slice(4, 30)} with this secret.`,
  ])
  await keyring.close()
})

test('refuses a disabled key until it is enabled; enabling does not restore a revoked key', async () => {
  const { id, key } = await newKey()
  const keyring = openKeyAuthenticator(database.db, clock)
  const refusal = () =>
    keyring
      .authenticate(`Bearer ${key}`)
      .then(() => null)
      .catch(error => [error.code, error.message])
  expect(await disableKey(database.db, id, clock)).toBe(true)
  expect(await refusal()).toEqual(['api_key_revoked', `The API key ${id} is disabled.`])
  expect(await disableKey(database.db, id, clock)).toBe(true)
  expect(await enableKey(database.db, id)).toBe(true)
  expect(await refusal()).toBeNull()
  await revokeKey(database.db, id, clock)
  expect(await enableKey(database.db, id)).toBe(true)
  expect(await refusal()).toEqual(['api_key_revoked', `The API key ${id} was revoked.`])
  expect(await disableKey(database.db, 'key_00000000000000000000000000', clock)).toBe(false)
  expect(await enableKey(database.db, 'nonsense')).toBe(false)
  await keyring.close()
})

test('lists keys without their secrets and keeps the time of the first revocation', async () => {
  const { id } = await newKey()
  const [listed] = (await listKeys(database.db, organizationId)).filter(key => key.id === id)
  expect(listed).toEqual({
    id,
    organizationId,
    name: 'k',
    brandId: null,
    scopes: ['email:send', 'inbox:read'],
    expiresAt: null,
    revokedAt: null,
    disabledAt: null,
    lastUsedAt: null,
    createdAt: expect.any(String),
    member: null,
    maker: null,
  })
  expect(await revokeKey(database.db, id, clock)).toBe(true)
  const revokedAt = async () =>
    (await listKeys(database.db, organizationId)).find(key => key.id === id)?.revokedAt ?? null
  const first = await revokedAt()
  expect(first).not.toBeNull()
  expect(await revokeKey(database.db, id, clock)).toBe(true)
  expect(await revokedAt()).toBe(first)
  expect(await revokeKey(database.db, 'key_00000000000000000000000000', clock)).toBe(false)
  expect(await revokeKey(database.db, 'nonsense', clock)).toBe(false)
})

test('authenticates many concurrent callers, each by its own key', async () => {
  const keyring = openKeyAuthenticator(database.db, clock)
  const keys = await Promise.all(Array.from({ length: 40 }, newKey))
  const callers = await Promise.all(
    keys.flatMap(({ key }) => [keyring.authenticate(`Bearer ${key}`), keyring.authenticate(`Bearer ${key}`)]),
  )
  expect(callers.map(caller => caller.keyId)).toEqual(keys.flatMap(({ id }) => [id, id]))
  expect([...(callers[0]?.scopes ?? [])]).toEqual(['email:send', 'inbox:read'])
  await keyring.close()
})

test('records the last use to the minute, outside of the request', async () => {
  const keyring = openKeyAuthenticator(database.db, clock)
  const { id, key } = await newKey()
  await keyring.authenticate(`Bearer ${key}`)
  await keyring.close()
  const [listed] = (await listKeys(database.db, organizationId)).filter(key => key.id === id)
  expect(listed?.lastUsedAt).toMatch(/:00\.000000$/)
})
