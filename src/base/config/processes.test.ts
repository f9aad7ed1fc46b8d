import { expect, test } from 'bun:test'
import { readConfig } from './config.ts'
import { MiB } from './parsers.ts'
import { configOfProcess, maxDatabaseConnections, processCount } from './processes.ts'

const config = readConfig({ MAILROOM_PROVIDER: 'sandbox' })
const machine = { cores: 4, memoryBytes: 8192 * MiB, isMemoryOurs: false }

test('one process for each core, at most eight', () => {
  expect(processCount(config, machine)).toBe(4)
  expect(processCount(config, { ...machine, cores: 1 })).toBe(1)
  expect(processCount(config, { ...machine, cores: 64, memoryBytes: 2 ** 40 })).toBe(8)
})

test('no more than fit into the memory of the container, or into half of the machine', () => {
  expect(processCount(config, { ...machine, memoryBytes: 1024 * MiB, isMemoryOurs: true })).toBe(2)
  expect(processCount(config, { ...machine, memoryBytes: 2048 * MiB })).toBe(2)
  expect(processCount(config, { ...machine, memoryBytes: 128 * MiB, isMemoryOurs: true })).toBe(1)
})

test('MAILROOM_PROCESSES overrides that; without a role that shares a port there is one', () => {
  expect(processCount({ ...config, processes: 3 }, { ...machine, cores: 1 })).toBe(3)
  expect(processCount({ ...config, roles: ['relay', 'webhooks'], processes: 3 }, machine)).toBe(1)
})

test('limits are divided, and only the first process relays', () => {
  const [first, second] = [1, 2].map(number => configOfProcess(config, { number, count: 2 }))
  expect(first?.roles).toEqual(config.roles)
  expect(second?.roles).toEqual(['smtp', 'http', 'submission'])
  expect(second).toMatchObject({ scansAtOnce: 4, rspamdChecksAtOnce: 8, maxSessions: 100, databaseConnections: 5 })
  // An even part is 10; of 20 connections up to 15 come to one process.
  expect(second?.maxSessionsPerAddress).toBe(15)
  expect(configOfProcess(config, { number: 1, count: 1 })).toEqual(config)
})

test('counts the connections of all processes', () => {
  expect(maxDatabaseConnections(config, 1)).toBe(50)
  // (smtp, http with submission, relay, webhooks, jobs) × 5, and (smtp, http with submission, jobs) × 5
  expect(maxDatabaseConnections(config, 2)).toBe(40)
  expect(maxDatabaseConnections({ ...config, roles: ['smtp'] }, 4)).toBe(4 * 2 * 4)
})
