import { newSemaphore, type Release } from '../../../base/concurrency/semaphore.ts'
import { noReply } from './replies.ts'
import { openSession, SessionError, type SessionOptions, type SmarthostSession } from './session.ts'

export interface SessionPoolOptions extends SessionOptions {
  readonly maxSessions: number
}

/** A session for one transaction. */
export interface PooledSession {
  readonly session: SmarthostSession
  /** Was it used before? Then the relay may have closed it meanwhile. */
  readonly wasUsed: boolean
}

/** Sessions with the relay, opened on demand and reused. */
export interface SessionPool {
  /**
   * A session for the caller alone: an idle one, or a new one if `fresh` or when none is idle. Waits in turn while all are in
   * use.
   * @throws SessionError when a new one cannot be opened, or the signal fires first
   */
  acquire(signal: AbortSignal, fresh: boolean): Promise<PooledSession>
  release(session: SmarthostSession): void
  /** Closes the idle sessions now and the others when they are released. */
  close(): Promise<void>
}

// Relays limit both: Postfix closes a connection after 300 s of silence, and after a number of messages.
const idleMs = 15_000
const maxTransactions = 100

export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const idle: SmarthostSession[] = []
  const inUse = new Map<SmarthostSession, Release>()
  const timers = new Map<SmarthostSession, Timer>()
  const acquirePermit = newSemaphore(options.maxSessions)
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
    // Where a new one is wanted although one is idle, it takes its place: the relay limits how many there are.
    void takeIdle()?.quit()
    const session = await openSession(options, signal)
    session.onceClosed(() => retire(session))
    return session
  }

  return {
    async acquire(signal, fresh) {
      const release = await acquirePermit(signal)
      if (!release) throw new SessionError(noReply('connect', 'All connections were in use for too long.'))
      const idleSession = fresh ? undefined : takeIdle()
      try {
        const session = idleSession ?? (await open(signal))
        inUse.set(session, release)
        return { session, wasUsed: idleSession !== undefined }
      } catch (error) {
        release()
        throw error
      }
    },
    release(session) {
      inUse.get(session)?.()
      inUse.delete(session)
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
    },
    async close() {
      isClosing = true
      await Promise.all(idle.splice(0).map(session => session.quit()))
    },
  }
}
