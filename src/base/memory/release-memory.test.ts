import { expect, test } from 'bun:test'
import { releaseMemory, releaseSent, toBeSentOnce } from './release-memory.ts'

const kib = 1024

test('frees the memory of bytes that have it for themselves', () => {
  const bytes = Buffer.allocUnsafeSlow(64 * kib)
  releaseMemory(bytes)
  expect(bytes.length).toBe(0)
})

test('leaves memory that is shared, and little of it', () => {
  const whole = Buffer.allocUnsafeSlow(200 * kib)
  releaseMemory(whole.subarray(0, 100 * kib))
  const small = Buffer.allocUnsafeSlow(kib)
  releaseMemory(small)
  expect([whole.length, small.length]).toEqual([200 * kib, kib])
})

test('frees bytes that are sent once when the last of them were sent', () => {
  const bytes = toBeSentOnce(Buffer.allocUnsafeSlow(100 * kib))
  releaseSent(bytes.subarray(0, 99 * kib))
  expect(bytes.length).toBe(100 * kib)
  releaseSent(bytes.subarray(99 * kib))
  expect(bytes.length).toBe(0)
})

test('leaves bytes that may be used after they were sent, and a part of others that is to be sent once', () => {
  const others = Buffer.allocUnsafeSlow(100 * kib)
  releaseSent(others)
  const part = toBeSentOnce(others.subarray(0, 90 * kib))
  releaseSent(part)
  expect(others.length).toBe(100 * kib)
})
