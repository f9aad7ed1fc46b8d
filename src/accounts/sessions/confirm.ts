import type { Session } from '../../api/session/session.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { sessionActor } from '../audit/session-actor.ts'
import { credentialsOf, takeCode, wantsCode } from '../users/credentials.ts'
import { selectPasskeys } from '../users/factors-table.ts'
import type { AssertionJson, AssertionOptionsJson } from '../users/passkey-schema.ts'
import { assertionOptions, recordAssertion, verifyAssertion } from '../users/passkeys.ts'
import { verifyPassword } from '../users/password.ts'
import { selectUser, type UserRow } from '../users/table.ts'
import { attemptRefusals, beginAttempt } from './attempts.ts'
import type { SignInDeps, SignInRequest } from './deps.ts'
import { type IssuedSession, renewSession, setSessionCookie } from './sessions.ts'

/** The refusals of {@link confirmWithPassword} and {@link confirmWithPasskey}. */
export const confirmRefusals = ['session_required', 'sign_in_failed', ...attemptRefusals, 'unavailable'] as const

/**
 * Confirms who is signed in (step-up): with a code where they have an authenticator, otherwise with the password. The session
 * gets a new token.
 * @throws Refusal `sign_in_failed`, `too_many_attempts`
 */
export async function confirmWithPassword(
  deps: SignInDeps,
  request: SignInRequest,
  session: Session,
  { password, code }: { readonly password?: string | undefined; readonly code?: string | undefined },
): Promise<IssuedSession> {
  const { db, clock } = deps
  const user = await requireUser(db, session)
  const isCodeWanted = wantsCode(credentialsOf(user, await selectPasskeys(db, user.id)), request.isLocalhost)
  if (isCodeWanted ? code === undefined : password === undefined)
    throw refuse('sign_in_failed', {
      message: isCodeWanted
        ? 'Confirm with your passkey, the code of your authenticator, or a backup code.'
        : 'Confirm with your password.',
      reason: isCodeWanted ? 'code_required' : 'password_required',
    })
  const attempt = await beginAttempt(db, [{ session: session.id }], clock)
  const isPasswordRight = password === undefined || (await verifyPassword(password, user.password_hash))
  const issued = await inTransaction(db, async tx => {
    const isRight =
      isPasswordRight && (!isCodeWanted || (code !== undefined && (await takeCode(tx, deps, user, code)) !== undefined))
    if (!isRight) return undefined
    await attempt.succeed(tx)
    return renewConfirmed(tx, deps, request, session)
  })
  if (!issued) throw await failed(deps, request, session)
  setSessionCookie(request, issued)
  return issued
}

/** What a browser needs to confirm with a passkey. */
export function passkeyConfirmOptions(
  deps: SignInDeps,
  request: SignInRequest,
  session: Session,
): Promise<AssertionOptionsJson> {
  return assertionOptions(deps, request, `confirm ${session.id}`)
}

/** Confirms who is signed in with a passkey of theirs. @throws Refusal `sign_in_failed` */
export async function confirmWithPasskey(
  deps: SignInDeps,
  request: SignInRequest,
  session: Session,
  response: AssertionJson,
): Promise<IssuedSession> {
  const { db, clock } = deps
  const assertion = await verifyAssertion(db, deps, request, `confirm ${session.id}`, response)
  const isOwn = assertion?.passkey.user_id === session.userId
  const issued = await inTransaction(db, async tx => {
    if (!assertion || !isOwn || !(await recordAssertion(tx, assertion, clock))) return undefined
    return renewConfirmed(tx, deps, request, session)
  })
  if (!issued) throw await failed(deps, request, session)
  setSessionCookie(request, issued)
  return issued
}

async function requireUser(db: Db, session: Session): Promise<UserRow> {
  const user = await selectUser(db, session.userId)
  if (!user) throw refuse('session_required', { message: 'The account no longer exists.' })
  return user
}

async function renewConfirmed(
  tx: Db,
  { clock }: SignInDeps,
  request: SignInRequest,
  session: Session,
): Promise<IssuedSession> {
  await recordAuditEntry(tx, sessionActor(session, request, clock), {
    action: 'account.confirm',
    subject: session.userId,
  })
  return renewSession(tx, session.id, { isConfirmed: true }, clock)
}

async function failed({ db, clock }: SignInDeps, request: SignInRequest, session: Session): Promise<Refusal> {
  const entry = { action: 'account.confirm_failed', subject: session.userId }
  await recordAuditEntry(db, sessionActor(session, request, clock), entry)
  return refuse('sign_in_failed', { message: 'That was not right: try again.', reason: 'not_confirmed' })
}
