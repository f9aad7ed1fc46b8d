import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { readMachineLimits } from './machine-limits.ts'

const root = mkdtempSync(join(tmpdir(), 'mailroom-cgroup-'))
afterAll(() => rmSync(root, { recursive: true }))

function write(group: string, file: string, text: string): void {
  mkdirSync(join(root, group), { recursive: true })
  writeFileSync(join(root, group, file), `${text}\n`)
}

const MiB = 1024 * 1024

test('takes the lowest limit of the control group and of those above it', () => {
  write('a', 'cpu.max', '100000 100000')
  write('a', 'memory.max', String(1024 * MiB))
  write('a/b', 'cpu.max', 'max 100000')
  write('a/b', 'memory.max', String(512 * MiB))
  expect(readMachineLimits(root, '/a/b')).toEqual({ cores: 1, memoryBytes: 512 * MiB, isMemoryOurs: true })
  expect(readMachineLimits(root, '/a')).toEqual({ cores: 1, memoryBytes: 1024 * MiB, isMemoryOurs: true })
})

test('part of a core counts as one, and no limit as the whole machine', () => {
  write('part', 'cpu.max', '50000 100000')
  write('part', 'memory.max', 'max')
  expect(readMachineLimits(root, '/part')).toEqual({ cores: 1, memoryBytes: totalmem(), isMemoryOurs: false })
  expect(readMachineLimits(root, '/absent')).toMatchObject({ cores: availableParallelism(), isMemoryOurs: false })
})
