import { refuse } from '../../base/refusal.ts'

/** What all request bodies together may hold at once, in bytes. */
const maxBytes = 256 * 1024 * 1024

/** Keeps what is held of request bodies within bounds. */
export interface BodyRoom {
  /** @throws Refusal `unavailable` when there is no room. */
  take(bytes: number): void
  giveBack(bytes: number): void
}

export function bodyRoom(): BodyRoom {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > maxBytes)
        throw refuse('unavailable', {
          message: 'Too many large requests are under way; try again.',
          retryAfterSeconds: 1,
        })
      taken += bytes
    },
    giveBack(bytes) {
      taken -= bytes
    },
  }
}
