import { requireSession } from '../../api/session/session-route.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { findSession } from '../sessions/authenticate.ts'
import type { SignInDeps } from '../sessions/deps.ts'
import { renewSession, setSessionCookie } from '../sessions/sessions.ts'
import { accountRefusals, changeAccount, type OwnRequest, readAccount } from './account.ts'
import { type NewAuthenticator, newAuthenticator, sealAuthenticator, verifyAuthenticatorCode } from './authenticator.ts'
import { renewBackupCodes } from './backup-codes.ts'
import { type Credentials, credentialsOf } from './credentials.ts'
import { deletePasskey, replaceBackupCodes, selectPasskeys } from './factors-table.ts'
import type { AttestationJson, RegistrationOptionsJson } from './passkey-schema.ts'
import { addPasskey, registrationOptions, verifyRegistration } from './passkeys.ts'
import { hashPassword } from './password.ts'
import { requireStrongPassword } from './password-strength.ts'
import type { AccountJson } from './schema.ts'
import { selectUser, type UserRow, updateUser } from './table.ts'

/** The refusals of a change of factors. */
export const factorRefusals = [...accountRefusals, 'confirmation_required', 'unavailable'] as const

/** The refusals of {@link removeAuthenticator}. */
export const removeFactorRefusals = [...factorRefusals, 'last_factor'] as const

/** The refusals of {@link removePasskey}. */
export const removePasskeyRefusals = [...removeFactorRefusals, 'not_found'] as const

/** The refusals of {@link replaceCodes}. */
export const backupCodeRefusals = [...factorRefusals, 'factor_required'] as const

const maxPasskeys = 20

/** Sets the person's password, in place of the one they had. @throws Refusal `confirmation_required`, `invalid_request` */
export async function setPassword(deps: SignInDeps, request: OwnRequest, password: string): Promise<AccountJson> {
  await requireConfirmed(deps, request)
  await requireStrongPassword(password, request.session)
  const password_hash = await hashPassword(password)
  return changeFactors(deps, request, 'account.set_password', (tx, user) => updateUser(tx, user.id, { password_hash }))
}

/** A secret for the person to put into their authenticator. Nothing changes until a code of it comes back. */
export function beginAuthenticator({ session, context }: OwnRequest): Promise<NewAuthenticator> {
  return newAuthenticator(session.email, new URL(context.origin).host)
}

/**
 * Adds the authenticator that shows this code, in place of the one that the person had.
 * @throws Refusal `confirmation_required`, `invalid_request` when the code is wrong
 */
export async function addAuthenticator(
  deps: SignInDeps,
  request: OwnRequest,
  { secret, code }: { readonly secret: string; readonly code: string },
): Promise<AccountJson> {
  await requireConfirmed(deps, request)
  const step = await verifyAuthenticatorCode(secret, code.replace(/\s/g, ''), deps.clock.now())
  if (step === undefined)
    throw refuse('invalid_request', {
      message: 'The code is not the one that the authenticator should show now; check the clocks of both.',
      param: 'code',
    })
  return changeFactors(deps, request, 'account.add_authenticator', (tx, user) =>
    updateUser(tx, user.id, { ...sealAuthenticator(deps.secrets, user.id, secret), totp_step: step }),
  )
}

/** @throws Refusal `last_factor` when the person could not sign in any more, or needs a factor and would have none */
export function removeAuthenticator(deps: SignInDeps, request: OwnRequest): Promise<AccountJson> {
  return changeFactors(deps, request, 'account.remove_authenticator', async (tx, user) => {
    await updateUser(tx, user.id, { totp_secret: null, totp_sealed_by: null, totp_step: null })
    await requireFactorLeft(tx, deps, request)
  })
}

/**
 * Gives the person ten new backup codes, in place of those they had. They stand for the authenticator or passkey beside the
 * password.
 * @throws Refusal `confirmation_required`, `factor_required` without a password
 */
export async function replaceCodes(deps: SignInDeps, request: OwnRequest): Promise<{ codes: string[] }> {
  const codes = await changeFactorsBy(deps, request, 'account.renew_backup_codes', (tx, user) => {
    if (user.password_hash === null)
      throw refuse('factor_required', {
        message: 'Set a password first: a backup code takes the place of an authenticator beside the password.',
      })
    return renewBackupCodes(tx, user.id)
  })
  return { codes: [...codes] }
}

/** What a browser needs to create a passkey of this person. @throws Refusal `confirmation_required` */
export async function beginPasskey(deps: SignInDeps, request: OwnRequest): Promise<RegistrationOptionsJson> {
  await requireConfirmed(deps, request)
  return registrationOptions(deps.db, deps, request.context, request.session)
}

/** @throws Refusal `confirmation_required`, `invalid_request` for what the page's browser has not just created */
export async function createPasskey(
  deps: SignInDeps,
  request: OwnRequest,
  { name, response }: { readonly name: string; readonly response: AttestationJson },
): Promise<AccountJson> {
  await requireConfirmed(deps, request)
  const { row, challenge } = await verifyRegistration(deps, request.context, request.session, response)
  return changeFactors(deps, request, 'account.add_passkey', async (tx, user) => {
    if ((await selectPasskeys(tx, user.id)).length >= maxPasskeys)
      throw refuse('invalid_request', { message: `An account has at most ${maxPasskeys} passkeys: remove one first.` })
    await addPasskey(tx, { ...row, name }, challenge)
  })
}

/** @throws Refusal `not_found`, `last_factor` as {@link removeAuthenticator} */
export function removePasskey(deps: SignInDeps, request: OwnRequest, id: string): Promise<AccountJson> {
  return changeFactors(deps, request, 'account.remove_passkey', async (tx, user) => {
    if (!isId('pky', id) || !(await deletePasskey(tx, user.id, id)))
      throw refuse('not_found', { message: `There is no passkey ${id}.` })
    await requireFactorLeft(tx, deps, request)
  })
}

async function changeFactors(
  deps: SignInDeps,
  request: OwnRequest,
  action: string,
  change: (tx: Db, user: UserRow) => Promise<void>,
): Promise<AccountJson> {
  await changeFactorsBy(deps, request, action, change)
  return readAccount(deps, request)
}

/** Changes a factor; the session gets a new token, so that whoever copied the old one is out. */
async function changeFactorsBy<Result>(
  deps: SignInDeps,
  request: OwnRequest,
  action: string,
  change: (tx: Db, user: UserRow) => Promise<Result>,
): Promise<Result> {
  const { result, issued } = await changeAccount(deps, request, { action }, async (tx, user) => ({
    result: await change(tx, user),
    issued: await renewSession(tx, request.session.id, { isConfirmed: false }, deps.clock),
  }))
  setSessionCookie(request.context, issued)
  return result
}

/**
 * Whoever has nothing to confirm with, since a link signed them in, adds their first factor without.
 * @throws Refusal `confirmation_required`
 */
async function requireConfirmed({ db }: SignInDeps, { session }: OwnRequest): Promise<void> {
  if (session.isConfirmed) return
  const user = await selectUser(db, session.userId)
  if (!user || canSignIn(credentialsOf(user, await selectPasskeys(db, user.id))))
    requireSession({ session }, 'confirmed')
}

function canSignIn({ hasPassword, hasPasskey }: Credentials): boolean {
  return hasPassword || hasPasskey
}

/** After a factor was removed, in the same transaction. @throws Refusal `last_factor` */
async function requireFactorLeft(tx: Db, { clock }: SignInDeps, { session, context }: OwnRequest): Promise<void> {
  const user = await selectUser(tx, session.userId)
  if (!user) return
  const credentials = credentialsOf(user, await selectPasskeys(tx, user.id))
  const after = await findSession(tx, session.id, { now: clock.now(), isLocalhost: context.isLocalhost })
  if (!canSignIn(credentials) || after?.needsFactor)
    throw refuse('last_factor', {
      message: 'This is the last factor that you can sign in with: add another one first.',
    })
  if (!credentials.hasAuthenticator && !credentials.hasPasskey) await replaceBackupCodes(tx, user.id, [])
}
