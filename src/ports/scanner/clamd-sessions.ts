import type { ClamdAddress } from '../../base/config/config.ts'
import { ClamdSession, SessionLostError } from './clamd-session.ts'

/** Well below clamd's ReadTimeout, two minutes by default, after which it closes an idle session. */
const defaultIdleMs = 10_000
/** So that several clamd behind a load balancer all get their part, also those that join later. */
const maxScans = 1000

/** Scans content in memory over sessions that stay open from one scan to the next; as many as there are scans at once. */
export class ClamdSessions {
  private readonly address: ClamdAddress
  private readonly idleMs: number
  /** Those without a scan, the last used at the end. */
  private readonly idle: { readonly session: ClamdSession; readonly sinceMs: number }[] = []
  private timer: Timer | undefined

  /** @param idleMs after so long without a scan a session is closed, in milliseconds */
  constructor(address: ClamdAddress, idleMs = defaultIdleMs) {
    this.address = address
    this.idleMs = idleMs
  }

  /** Gives clamd's reply. @throws when there is none that counts, or `signal` aborts */
  async scan(content: Buffer, signal: AbortSignal): Promise<string> {
    for (;;) {
      const session = this.idle.pop()?.session ?? this.open()
      try {
        return await this.scanIn(session, content, signal)
      } catch (error) {
        // It may have been closed before it was asked. Each that was lost is one fewer.
        if (!(error instanceof SessionLostError) || session.scans === 1) throw error
      }
    }
  }

  private open(): ClamdSession {
    const session: ClamdSession = new ClamdSession(this.address, () => {
      const at = this.idle.findIndex(other => other.session === session)
      if (at >= 0) this.idle.splice(at, 1)
    })
    return session
  }

  private async scanIn(session: ClamdSession, content: Buffer, signal: AbortSignal): Promise<string> {
    const giveUp = () => session.close(new Error('clamd did not answer in time'))
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      const reply = await session.scan(content)
      // After an error clamd closes the connection, or has read not all of the content.
      if (/ (OK|FOUND)$/.test(reply) && session.scans < maxScans) this.putBack(session)
      else session.close()
      return reply
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private putBack(session: ClamdSession): void {
    if (!session.isOpen) return
    this.idle.push({ session, sinceMs: performance.now() })
    this.timer ??= this.closeIdleLater()
  }

  private closeIdleLater(): Timer {
    return setTimeout(() => this.closeIdle(), this.idleMs).unref()
  }

  private closeIdle(): void {
    const before = performance.now() - this.idleMs
    for (const { session, sinceMs } of [...this.idle]) if (sinceMs <= before) session.close()
    this.timer = this.idle.length > 0 ? this.closeIdleLater() : undefined
  }
}
