import { timingSafeEqual } from 'node:crypto'
import type { Session, SessionMember } from '../../api/session/session.ts'
import { type Clock, dayMs, hourMs, type Instant, minuteMs, plusMs } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { openUseTracker } from '../../base/concurrency/use-tracker.ts'
import type { Db } from '../../base/database/database.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import { hashToken } from '../../base/secrets/token.ts'
import { updateMembersActive } from '../members/table.ts'
import { parseCookieToken } from './cookie-token.ts'
import { findMembership, type MembershipRequest } from './member.ts'
import { type SessionAuthRow, selectSessionsForAuth, updateSessionsUsed } from './table.ts'

/** A session ends when it was not used for so long. */
export const idleMs = 12 * hourMs
/** A session ends so long after the sign-in, used or not. */
export const longestMs = 7 * dayMs
/** For so long a presented factor counts as a confirmation (step-up). */
const confirmationMs = 10 * minuteMs

/** Finds out who makes a request of the dashboard. */
export interface SessionAuthenticator {
  /**
   * The session of this cookie, as the database has it at this moment; null: it was ended, has expired, or never was.
   * @param at.isLocalhost the request was made on the machine itself, where a password alone will do
   */
  authenticate(cookie: string | undefined, at: { readonly isLocalhost: boolean }): Promise<Session | null>
  /**
   * The member that the person is in an organization.
   * @throws Refusal `organization_required`, `not_found`, `brand_restricted`
   */
  resolveMember(session: Session, request: MembershipRequest): Promise<SessionMember>
  /** Writes the pending times of use. */
  close(): Promise<void>
}

type SessionLookup =
  | { readonly kind: 'done'; readonly row: SessionAuthRow | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Concurrent requests share one query; nothing is cached beyond it, so that what was ended is refused at once. */
export function openSessionAuthenticator(db: Db, clock: Clock): SessionAuthenticator {
  const find = batched<Id<'ses'>, SessionLookup>({ maxItems: 64, maxInFlight: 1 }, async ids => {
    try {
      const rows = await selectSessionsForAuth(db, padToPowerOfTwo([...new Set(ids)]))
      const byId = new Map(rows.map(row => [row.id, row]))
      return ids.map(id => ({ kind: 'done', row: byId.get(id) }))
    } catch (error) {
      // Not thrown: `batched` would then look each id up alone, one after the other, while the database is down.
      return ids.map(() => ({ kind: 'failed', error }))
    }
  })
  const tracker = openUseTracker({
    session: (ids: readonly Id<'ses'>[], minute) => updateSessionsUsed(db, ids, minute),
    member: (ids: readonly Id<'mem'>[], minute) => updateMembersActive(db, ids, minute),
  })

  return {
    async authenticate(cookie, { isLocalhost }) {
      const presented = cookie === undefined ? undefined : parseCookieToken(cookie)
      if (!presented) return null
      const lookup = await find(presented.id)
      if (lookup.kind === 'failed') throw lookup.error
      const { row } = lookup
      if (!row || !timingSafeEqual(row.token_hash, hashToken(presented.secret))) return null
      const now = clock.now()
      if (!isLive(row, now)) return null
      tracker.record('session', row.id, row.last_used_at, now)
      return toSession(row, now, isLocalhost)
    },
    async resolveMember(session, request) {
      const { member, lastActiveAt } = await findMembership(db, session, request)
      tracker.record('member', member.memberId, lastActiveAt, clock.now())
      return member
    },
    close: () => tracker.close(),
  }
}

/** A session that began or changed in this request, as the next request will see it. */
export async function findSession(
  db: Db,
  id: Id<'ses'>,
  { now, isLocalhost }: { readonly now: Instant; readonly isLocalhost: boolean },
): Promise<Session | undefined> {
  const [row] = await selectSessionsForAuth(db, [id])
  return row && isLive(row, now) ? toSession(row, now, isLocalhost) : undefined
}

/** Has the session neither expired nor been idle for too long? */
export function isLive(
  { expires_at, last_used_at }: Pick<SessionAuthRow, 'expires_at' | 'last_used_at'>,
  now: Instant,
) {
  return expires_at > now && plusMs(last_used_at, idleMs) > now
}

function toSession(row: SessionAuthRow, now: Instant, isLocalhost: boolean): Session {
  const isOperator = row.is_operator === 1
  return {
    id: row.id,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    isOperator,
    needsFactor: !isLocalhost && row.has_factor === 0 && (isOperator || row.is_manager === 1),
    confirmedAt: row.confirmed_at,
    isConfirmed: plusMs(row.confirmed_at, confirmationMs) > now,
  }
}
