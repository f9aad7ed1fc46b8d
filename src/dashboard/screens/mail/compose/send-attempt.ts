import { ApiError, ServerAwayError } from '../../../api/errors.ts'

/** What makes a send the same when it is tried again. */
export interface SendAttempt {
  /** The Idempotency-Key. */
  readonly key: string
  /** When it goes out, ISO 8601. */
  readonly scheduledAt: string
}

/** Sends once, however often the person tries. */
export interface OnceSender {
  /**
   * @param content what is sent; other content is another send
   * @param at when it goes out; null: as soon as it can no longer be taken back
   */
  send<Answer>(content: object, at: string | null, post: (attempt: SendAttempt) => Promise<Answer>): Promise<Answer>
}

/** How long a send can be taken back, in milliseconds: so far ahead it is scheduled. */
const undoMs = 10_000

/**
 * When the server does not answer, nobody knows whether it took the email. So the next try carries the same key, and the
 * same time, to which the server answers as it did first.
 * @param serverNow the clock of the server, which may differ from that of this device
 */
export function createOnceSender(serverNow: () => Promise<number>): OnceSender {
  let open: (SendAttempt & { readonly content: string }) | null = null

  const begin = async (content: string, at: string | null) => {
    const scheduledAt = at ?? new Date((await serverNow()) + undoMs).toISOString()
    open = { key: randomKey(), scheduledAt, content }
    return open
  }

  return {
    async send(content, at, post) {
      const text = JSON.stringify([content, at])
      const isRepeated = open?.content === text
      const attempt = open?.content === text ? open : await begin(text, at)
      try {
        const answer = await post(attempt)
        open = null
        return answer
      } catch (error) {
        if (error instanceof ServerAwayError) throw error
        open = null
        // The time passed while the server was away: it was not taken then, or the server would have said so.
        if (isRepeated && at === null && isPassed(error)) return post(await begin(text, at))
        throw error
      }
    },
  }
}

function isPassed(error: unknown): boolean {
  return error instanceof ApiError && error.param === 'scheduled_at'
}

/** `crypto.randomUUID` is there only over https. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** The clock of the server, to the second: that of its last whole second is rounded up. */
export async function readServerClock(): Promise<number> {
  try {
    const response = await fetch('/health', { cache: 'no-store' })
    const date = Date.parse(response.headers.get('date') ?? '')
    return Number.isNaN(date) ? Date.now() : date + 1_000
  } catch {
    return Date.now()
  }
}
