import {
  type AuthenticationResponseJSON,
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser'
import type { Account } from './account.ts'
import { requestJson } from './request.ts'
import type { Session } from './session.ts'

/** The person closed the browser's own dialog, or has no passkey for this address. */
export class PasskeyCanceledError extends Error {
  override readonly name = 'PasskeyCanceledError'
}

/** Can this browser have passkeys for the page's address? For an IP address no browser can. */
export function hasPasskeys(): boolean {
  return browserSupportsWebAuthn() && !/^[\d.]+$|^\[/.test(location.hostname)
}

/** @throws ApiError, PasskeyCanceledError */
export function signInWithPasskey(): Promise<Session> {
  return presentPasskey('/app/api/sign-in/passkey')
}

/** @throws ApiError, PasskeyCanceledError */
export function confirmWithPasskey(): Promise<Session> {
  return presentPasskey('/app/api/confirm/passkey')
}

async function presentPasskey(path: string): Promise<Session> {
  const optionsJSON = await requestJson<PublicKeyCredentialRequestOptionsJSON>('POST', `${path}/options`, { body: {} })
  const answer = await startAuthentication({ optionsJSON }).catch(throwCanceled)
  return requestJson('POST', path, { body: { response: assertionOf(answer) } })
}

function assertionOf({ id, response }: AuthenticationResponseJSON) {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return { id, response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) } }
}

/** Creates a passkey in the browser or the device, and adds it to the account. @throws ApiError, PasskeyCanceledError */
export async function createPasskey(name: string): Promise<Account> {
  const path = '/app/api/account/passkeys'
  const optionsJSON = await requestJson<PublicKeyCredentialCreationOptionsJSON>('POST', `${path}/options`, { body: {} })
  const { id, response } = await startRegistration({ optionsJSON }).catch(throwCanceled)
  const { clientDataJSON, attestationObject, transports } = response
  const created = { clientDataJSON, attestationObject, ...(transports && { transports }) }
  return requestJson('POST', path, { body: { name, response: { id, response: created } } })
}

/** Browsers do not say why: a closed dialog and a missing passkey are the same error. */
function throwCanceled(error: unknown): never {
  const isCanceled = error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')
  if (isCanceled || error instanceof WebAuthnError) throw new PasskeyCanceledError(error.message, { cause: error })
  throw error
}
