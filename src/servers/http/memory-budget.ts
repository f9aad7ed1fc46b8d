import { refuse } from '../../base/refusal.ts'

/** What all request bodies together may hold at once, in bytes. */
const maxBytes = 256 * 1024 * 1024

/** Keeps what is held of request bodies within bounds. */
export interface MemoryBudget {
  /** @throws Refusal `unavailable` when there is no room. */
  acquire(bytes: number): void
  release(bytes: number): void
}

export function openMemoryBudget(): MemoryBudget {
  let taken = 0
  return {
    acquire(bytes) {
      if (taken + bytes > maxBytes)
        throw refuse('unavailable', {
          message: 'Too many large requests are under way; try again.',
          retryAfterSeconds: 1,
        })
      taken += bytes
    },
    release(bytes) {
      taken -= bytes
    },
  }
}
