import type { Session, SessionContext } from '../../api/session/session.ts'
import { plusMs, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { sessionActor } from '../audit/session-actor.ts'
import { updateMemberNames } from '../members/table.ts'
import { idleMs } from '../sessions/authenticate.ts'
import type { SignInDeps } from '../sessions/deps.ts'
import { clearSessionCookie } from '../sessions/sessions.ts'
import { deleteOtherSessions, deleteSession, selectSessions } from '../sessions/table.ts'
import { countBackupCodes, selectPasskeys } from './factors-table.ts'
import type { AccountJson } from './schema.ts'
import { lockUser, selectUser, type UserRow, updateUser } from './table.ts'

/** The refusals of whatever changes the account. */
export const accountRefusals = ['session_required'] as const

/** The refusals of {@link endSession}. */
export const endSessionRefusals = [...accountRefusals, 'not_found'] as const

/** A request of whoever is signed in. */
export interface OwnRequest {
  readonly session: Session
  readonly context: SessionContext
}

/** The account of whoever is signed in, with their factors and the sessions that have not ended. */
export async function readAccount({ db, clock }: SignInDeps, { session }: OwnRequest): Promise<AccountJson> {
  const { userId, id: currentId } = session
  const now = clock.now()
  const [user, passkeys, codes, sessions] = await Promise.all([
    selectUser(db, userId),
    selectPasskeys(db, userId),
    countBackupCodes(db, userId),
    selectSessions(db, userId, { now, idleSince: plusMs(now, -idleMs) }),
  ])
  const { email, name, password_hash, totp_secret } = requireAccount(user)
  return {
    email,
    name,
    has_password: password_hash !== null,
    has_authenticator: totp_secret !== null,
    backup_codes_left: codes,
    passkeys: passkeys.map(row => ({
      id: row.id,
      name: row.name,
      host: row.host,
      created_at: toIso(row.created_at),
      last_used_at: row.last_used_at && toIso(row.last_used_at),
    })),
    sessions: sessions.map(row => ({
      id: row.id,
      is_current: row.id === currentId,
      created_at: toIso(row.created_at),
      last_used_at: toIso(row.last_used_at),
      expires_at: toIso(row.expires_at),
      ip: row.ip,
      user_agent: row.user_agent,
    })),
  }
}

/** Renames the person, in all organizations that they are a member of; one who has this name is left as they are. */
export async function rename(deps: SignInDeps, request: OwnRequest, name: string): Promise<AccountJson> {
  const before = await readAccount(deps, request)
  if (before.name === name) return before
  await changeAccount(deps, request, { action: 'account.rename', detail: { name } }, async (tx, user) => {
    await updateUser(tx, user.id, { name })
    await updateMemberNames(tx, user.id, name)
  })
  return readAccount(deps, request)
}

/** Ends one of the person's sessions; where that is this one, they are signed out. @throws Refusal `not_found` */
export async function endSession(
  deps: SignInDeps,
  request: OwnRequest,
  id: string,
): Promise<{ id: string; ended: true }> {
  const entry = { action: 'account.end_session', detail: { session: id } }
  await changeAccount(deps, request, entry, async (tx, user) => {
    if (!isId('ses', id) || !(await deleteSession(tx, user.id, id)))
      throw refuse('not_found', { message: `There is no session ${id}.` })
  })
  if (id === request.session.id) clearSessionCookie(request.context)
  return { id, ended: true }
}

/** Ends all sessions of the person but this one. */
export async function endOtherSessions(deps: SignInDeps, request: OwnRequest): Promise<{ ended: number }> {
  const ended = await changeAccount(deps, request, { action: 'account.end_other_sessions' }, (tx, user) =>
    deleteOtherSessions(tx, user.id, request.session.id),
  )
  return { ended }
}

/** Changes the account and records it, in one transaction that locks the person's row. */
export function changeAccount<Result>(
  { db, clock }: SignInDeps,
  { session, context }: OwnRequest,
  entry: { readonly action: string; readonly detail?: Readonly<Record<string, unknown>> },
  change: (tx: Db, user: UserRow) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async tx => {
    const user = requireAccount(await lockUser(tx, session.userId))
    const result = await change(tx, user)
    await recordAuditEntry(tx, sessionActor(session, context, clock), { ...entry, subject: user.id })
    return result
  })
}

function requireAccount(user: UserRow | undefined): UserRow {
  if (!user) throw refuse('session_required', { message: 'The account no longer exists.' })
  return user
}
