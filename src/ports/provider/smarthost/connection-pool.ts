import { openSession, type SessionOptions, type SmarthostSession } from './session.ts'

export interface SessionPoolOptions extends SessionOptions {
  readonly maxSessions: number
}

/** A session for one transaction. */
export interface PooledSession {
  readonly session: SmarthostSession
  /** Was it used before? Then it may have died unseen. */
  readonly isUsed: boolean
}

/** Sessions with the relay, opened when needed and used again. */
export interface SessionPool {
  /**
   * A session of its own for the caller: a waiting one, or, where `fresh` asks for it or none waits, a new one. Waits
   * when all are in use. @throws SessionRefused when a new one cannot be made ready.
   */
  acquire(signal: AbortSignal, fresh: boolean): Promise<PooledSession>
  release(session: SmarthostSession): void
  /** Ends the waiting sessions now and the others when they are given back. */
  close(): Promise<void>
}

// Relays limit both: Postfix ends a connection after 300 s of silence and counts the mails of one.
const idleMs = 15_000
const maxTransactions = 100

export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const idle: SmarthostSession[] = []
  const lent = new Set<SmarthostSession>()
  const timers = new Map<SmarthostSession, Timer>()
  const waiting: (() => void)[] = []
  let opening = 0
  let isClosing = false

  function takeIdle(): SmarthostSession | undefined {
    const session = idle.pop()
    if (session) clearTimeout(timers.get(session))
    return session
  }

  function retire(session: SmarthostSession): void {
    const at = idle.indexOf(session)
    if (at >= 0) idle.splice(at, 1)
    clearTimeout(timers.get(session))
    timers.delete(session)
  }

  async function open(signal: AbortSignal): Promise<SmarthostSession> {
    opening++
    try {
      const session = await openSession(options, signal)
      session.onceClosed(() => retire(session))
      return session
    } finally {
      opening--
    }
  }

  return {
    async acquire(signal, fresh) {
      while (lent.size + opening >= options.maxSessions && !signal.aborted)
        await new Promise<void>(resolve => waiting.push(resolve))
      const used = fresh ? undefined : takeIdle()
      try {
        const session = used ?? (await open(signal))
        lent.add(session)
        return { session, isUsed: used !== undefined }
      } catch (error) {
        waiting.shift()?.()
        throw error
      }
    },
    release(session) {
      lent.delete(session)
      if (isClosing || !session.isLive || session.transactions >= maxTransactions) void session.quit()
      else {
        idle.push(session)
        timers.set(
          session,
          setTimeout(() => {
            retire(session)
            void session.quit()
          }, idleMs),
        )
      }
      waiting.shift()?.()
    },
    async close() {
      isClosing = true
      await Promise.all(idle.splice(0).map(session => session.quit()))
    },
  }
}
