import { inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { canonicalEmail } from '../members/schema.ts'
import { credentialsOf, takeCode, wantsCode } from '../users/credentials.ts'
import { selectPasskeys } from '../users/factors-table.ts'
import type { AssertionJson, AssertionOptionsJson } from '../users/passkey-schema.ts'
import { assertionOptions, recordAssertion, verifyAssertion } from '../users/passkeys.ts'
import { verifyPassword } from '../users/password.ts'
import { selectUser, selectUserByEmail, type UserRow } from '../users/table.ts'
import { attemptRefusals, beginAttempt } from './attempts.ts'
import type { SignInDeps, SignInRequest } from './deps.ts'
import { knownBrowser, rememberBrowser } from './known-browser.ts'
import { type IssuedSession, setSessionCookie, startSession } from './sessions.ts'

/** The refusals of {@link signInWithPassword}. */
export const passwordRefusals = ['sign_in_failed', ...attemptRefusals, 'unavailable'] as const

/** The refusals of {@link signInWithPasskey}. */
export const passkeyRefusals = ['sign_in_failed'] as const

interface PasswordSignIn {
  readonly email: string
  readonly password: string
  /** Of the authenticator, or a backup code. */
  readonly code?: string | undefined
}

type Proof = 'passkey' | 'password' | 'password and authenticator' | 'password and backup code'

/**
 * Signs in with a password, and the code that goes with it. The answer to an unknown person is that to a wrong password, and
 * takes as long.
 * @throws Refusal `sign_in_failed` (with the reason `code_required` or `code_wrong` only where the password is right),
 * `too_many_attempts`
 */
export async function signInWithPassword(
  deps: SignInDeps,
  request: SignInRequest,
  { email: typed, password, code }: PasswordSignIn,
): Promise<IssuedSession> {
  const { db, secrets, clock } = deps
  const email = canonicalEmail(typed) ?? typed.toLowerCase()
  const user = await selectUserByEmail(db, email)
  // Asked for an unknown person too: the time of an answer does not say whether there is an account.
  const passkeys = await selectPasskeys(db, user?.id ?? 'usr_')
  const browser = knownBrowser(secrets, request, user?.id)
  const subjects = browser === undefined ? [{ network: request.ip }, { account: email }] : [{ device: browser }]
  const attempt = await beginAttempt(db, subjects, clock)

  const isRight = await verifyPassword(password, user?.password_hash ?? null)
  if (!user || !isRight) {
    await recordFailure(deps, request, email)
    throw refuse('sign_in_failed', { message: 'The email or the password is wrong.' })
  }
  const isCodeWanted = wantsCode(credentialsOf(user, passkeys), request.isLocalhost)
  if (isCodeWanted && code === undefined) {
    await attempt.discount(db)
    throw refuse('sign_in_failed', {
      message: user.totp_secret === null ? 'Sign in with your passkey.' : 'Add the code that your authenticator shows.',
      reason: 'code_required',
      resolution: 'A backup code will do as well.',
    })
  }
  const issued = await inTransaction(db, async tx => {
    const taken = isCodeWanted && code !== undefined ? await takeCode(tx, deps, user, code) : undefined
    if (isCodeWanted && taken === undefined) return undefined
    await attempt.succeed(tx)
    return startSignedIn(tx, deps, request, user, proofOf(taken))
  })
  if (!issued) {
    await recordFailure(deps, request, email)
    throw refuse('sign_in_failed', { message: 'The code is wrong, or was used before.', reason: 'code_wrong' })
  }
  setCookies(deps, request, user, issued)
  return issued
}

function proofOf(code: 'authenticator' | 'backup_code' | undefined): Proof {
  if (code === undefined) return 'password'
  return code === 'authenticator' ? 'password and authenticator' : 'password and backup code'
}

/** What a browser needs to sign in with a passkey: the passkey says whose it is. */
export function passkeySignInOptions(deps: SignInDeps, request: SignInRequest): Promise<AssertionOptionsJson> {
  return assertionOptions(deps, request, 'sign-in')
}

/** Signs in with a passkey. It cannot be guessed: no failures of others make its owner wait. @throws Refusal `sign_in_failed` */
export async function signInWithPasskey(
  deps: SignInDeps,
  request: SignInRequest,
  response: AssertionJson,
): Promise<IssuedSession> {
  const { db, clock } = deps
  const assertion = await verifyAssertion(db, deps, request, 'sign-in', response)
  const signedIn =
    assertion &&
    (await inTransaction(db, async tx => {
      const user = await selectUser(tx, assertion.passkey.user_id)
      if (!user || !(await recordAssertion(tx, assertion, clock))) return undefined
      return { user, issued: await startSignedIn(tx, deps, request, user, 'passkey') }
    }))
  if (!signedIn) {
    await recordFailure(deps, request, assertion?.passkey.user_id ?? 'passkey')
    throw refuse('sign_in_failed', {
      message: 'This passkey is not known here, or the page was open for too long: try again.',
    })
  }
  setCookies(deps, request, signedIn.user, signedIn.issued)
  return signedIn.issued
}

async function startSignedIn(
  tx: SignInDeps['db'],
  { clock }: SignInDeps,
  request: SignInRequest,
  user: UserRow,
  proof: Proof,
): Promise<IssuedSession> {
  const issued = await startSession(tx, user.id, request, clock)
  await recordAuditEntry(
    tx,
    { actor: user.email, clock, ip: request.ip },
    { action: 'account.sign_in', subject: user.id, detail: { with: proof } },
  )
  return issued
}

/** Lets the browser keep the session, and know the person again. */
export function setCookies(
  { secrets }: Pick<SignInDeps, 'secrets'>,
  request: SignInRequest,
  user: Pick<UserRow, 'id'>,
  issued: IssuedSession,
): void {
  setSessionCookie(request, issued)
  rememberBrowser(secrets, request, user.id)
}

async function recordFailure({ db, clock }: SignInDeps, { ip }: SignInRequest, actor: string): Promise<void> {
  await recordAuditEntry(db, { actor, clock, ip }, { action: 'account.sign_in_failed', subject: actor })
}
