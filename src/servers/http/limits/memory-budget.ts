import { refuse } from '../../../base/refusal.ts'

/** The memory that the bodies of all requests under way may use together, in bytes. */
const maxBytes = 256 * 1024 * 1024

/** Bounds the memory of request bodies. */
export interface MemoryBudget {
  /** @throws Refusal `unavailable` when the budget does not have so many bytes left. */
  acquire(bytes: number): void
  release(bytes: number): void
}

export function openMemoryBudget(): MemoryBudget {
  let usedBytes = 0
  return {
    acquire(bytes) {
      if (usedBytes + bytes > maxBytes)
        throw refuse('unavailable', {
          message: 'Too many large requests are being processed; try again.',
          retryAfterSeconds: 1,
        })
      usedBytes += bytes
    },
    release(bytes) {
      usedBytes -= bytes
    },
  }
}
