import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import { localZone } from '../../../src/ports/dns-zone/local/local.ts'
import type { DnsProvider } from '../../../src/ports/dns-zone/port.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { zoneContract } from './contract.ts'

let database: FreshDatabase
let provider: DnsProvider

beforeAll(async () => {
  database = await freshDatabase()
  provider = localZone(database.db, systemClock)
})
afterAll(() => database.close())

zoneContract('local', () => ({ provider, under: 'contract.test', elsewhere: 'contract.example' }))

test('local: a record has the times when it was created and last updated', async () => {
  const zone = await provider.findZone('dated.test')
  const record = { type: 'A', name: 'dated.test', value: '192.0.2.1', priority: null, ttlSeconds: 60 } as const
  const created = await zone?.create(record, null)
  if (created?.kind !== 'written') throw new Error('not written')
  const { id, createdAt, updatedAt } = created.record
  expect(createdAt).not.toBeNull()
  expect(updatedAt).toBe(createdAt)
  await zone?.update(id, { ...record, ttlSeconds: 90 }, null)
  const [changed] = (await zone?.recordsAt('dated.test')) ?? []
  expect(changed?.createdAt).toBe(createdAt)
  expect((changed?.updatedAt ?? '') > (createdAt ?? '')).toBe(true)
})

test('local: refuses to write outside its zone', async () => {
  const zone = await provider.findZone('a.test')
  const outside = { type: 'A', name: 'a.example', value: '192.0.2.1', priority: null, ttlSeconds: 60 } as const
  expect(async () => zone?.create(outside, null)).toThrow('.test')
})
