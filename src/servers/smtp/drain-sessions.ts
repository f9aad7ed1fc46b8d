import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'
import type { SmtpTimeouts } from './session-limits.ts'

const pollMs = 20

/** A session, as far as the end of a server needs it. */
export interface DrainableSession {
  /** What comes next: a command, more of a message, or our reply to a message that has arrived. */
  readonly stage: 'commands' | 'data' | 'reply'
  cut(code: SmtpRefusalCode): void
  hangUp(afterMs: number): void
}

/**
 * Ends the sessions of a server that accepts no more; resolves when none is left. Each gets 421 4.3.2: between commands at
 * once, while a message arrives after a short grace (nothing of it is acknowledged yet), and once it has arrived after our
 * reply. No session waits for its client to close, or to stop sending.
 */
export async function drainSessions(
  sessions: ReadonlySet<DrainableSession>,
  limits: Pick<SmtpTimeouts, 'dataGraceMs' | 'drainMs' | 'farewellMs'>,
): Promise<void> {
  const longestMs = { commands: 0, data: limits.dataGraceMs, reply: limits.drainMs }
  const startedAt = performance.now()
  while (sessions.size > 0) {
    const elapsedMs = performance.now() - startedAt
    for (const session of [...sessions]) {
      if (elapsedMs >= longestMs[session.stage]) session.cut('shutting_down')
      session.hangUp(limits.farewellMs)
    }
    await Bun.sleep(pollMs)
  }
}
