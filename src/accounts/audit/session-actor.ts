import type { Session, SessionContext } from '../../api/session/session.ts'
import type { Clock } from '../../base/clock.ts'
import type { Operator } from './audit.ts'

/** The signed-in person who acts, for the audit log. */
export function sessionActor(
  session: Pick<Session, 'email'>,
  { ip }: Pick<SessionContext, 'ip'>,
  clock: Clock,
): Operator {
  return { actor: session.email, clock, ip }
}
