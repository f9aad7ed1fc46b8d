import { newSemaphore, type Release } from '../../../base/concurrency/semaphore.ts'
import { noReply } from './replies.ts'
import { openSession, SessionError, type SessionOptions, type SmarthostSession } from './session.ts'

export interface SessionPoolOptions extends SessionOptions {
  readonly maxSessions: number
  /** After how long a session more is tried again where the relay refused one, in milliseconds; half a minute by default. */
  readonly growMs?: number
}

/** A session for one transaction. */
export interface PooledSession {
  readonly session: SmarthostSession
  /** Was it used before? Then the relay may have closed it meanwhile. */
  readonly wasUsed: boolean
}

/**
 * Sessions with the relay, opened on demand and reused. Relays limit how many there are at once, without saying so before:
 * where a further one is refused for now, those that are in use do the work.
 */
export interface SessionPool {
  /** Is a session in use? */
  readonly isInUse: boolean
  /**
   * A session for the caller alone: an idle one, or a new one if `fresh` or when none is idle. Waits in turn while all are in
   * use, or while the relay allows no more than those.
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
const defaultGrowMs = 30_000

export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const idle: SmarthostSession[] = []
  const inUse = new Map<SmarthostSession, Release>()
  const timers = new Map<SmarthostSession, Timer>()
  const acquirePermit = newSemaphore(options.maxSessions)
  /** Permits for the sessions that the relay did not allow. */
  const withheld = newWithheldPermits(options.growMs ?? defaultGrowMs)
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
    // Where a new one is wanted although one is idle, it takes its place: the relay limits how many there are.
    void takeIdle()?.quit()
    const session = await openSession(options, signal)
    session.onceClosed(() => retire(session))
    return session
  }

  async function acquire(signal: AbortSignal, fresh: boolean): Promise<PooledSession> {
    const release = await acquirePermit(signal)
    if (!release) throw new SessionError(noReply('connect', 'All connections were in use for too long.'))
    const idleSession = fresh ? undefined : takeIdle()
    if (idleSession) {
      inUse.set(idleSession, release)
      return { session: idleSession, wasUsed: true }
    }
    opening++
    try {
      const session = await open(signal)
      inUse.set(session, release)
      return { session, wasUsed: false }
    } catch (error) {
      // One that is in use, or being opened, passes its permit on: there is always somebody who goes on, or fails alone.
      const isFurther = inUse.size > 0 || opening > 1
      if (!isFurther || !isRefusedForNow(error)) {
        release()
        throw error
      }
      withheld.add(release)
    } finally {
      opening--
    }
    return acquire(signal, false)
  }

  return {
    get isInUse() {
      return inUse.size > 0
    },
    acquire,
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
      withheld.clear()
      await Promise.all(idle.splice(0).map(session => session.quit()))
    },
  }
}

/** Was a session refused by a reply that may be another one later (RFC 5321 §4.2.1)? */
export function isRefusedForNow(error: unknown): boolean {
  const code = error instanceof SessionError ? error.reply.code : null
  return code !== null && code >= 400 && code < 500
}

/**
 * Permits that nobody gets for a while. After `growMs` one is given back, after as long again two, then four, and so on; once
 * another is added, one again.
 */
function newWithheldPermits(growMs: number) {
  const permits: Release[] = []
  let timer: Timer | undefined
  let atOnce = 1

  function giveBackLater(): void {
    timer = setTimeout(() => {
      timer = undefined
      for (const release of permits.splice(0, atOnce)) release()
      atOnce *= 2
      if (permits.length > 0) giveBackLater()
    }, growMs)
    timer.unref()
  }

  return {
    add(release: Release): void {
      permits.push(release)
      atOnce = 1
      if (!timer) giveBackLater()
    },
    clear(): void {
      clearTimeout(timer)
      timer = undefined
      for (const release of permits.splice(0)) release()
    },
  }
}
