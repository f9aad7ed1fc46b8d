import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser'
import type { Account } from './account.ts'
import { answer, app } from './client.ts'
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
export async function signInWithPasskey(): Promise<Session> {
  const response = await presentPasskey(await answer(app.POST('/app/api/sign-in/passkey/options')))
  return answer(app.POST('/app/api/sign-in/passkey', { body: { response } }))
}

/** @throws ApiError, PasskeyCanceledError */
export async function confirmWithPasskey(): Promise<Session> {
  const response = await presentPasskey(await answer(app.POST('/app/api/confirm/passkey/options')))
  return answer(app.POST('/app/api/confirm/passkey', { body: { response } }))
}

async function presentPasskey(optionsJSON: PublicKeyCredentialRequestOptionsJSON) {
  const { id, response } = await startAuthentication({ optionsJSON }).catch(throwCanceled)
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return { id, response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) } }
}

/** Creates a passkey in the browser or the device, and adds it to the account. @throws ApiError, PasskeyCanceledError */
export async function createPasskey(name: string): Promise<Account> {
  const options = await answer(app.POST('/app/api/account/passkeys/options'))
  // The server's list of transports is this library's: the types are narrower than JSON's strings.
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON
  const { id, response } = await startRegistration({ optionsJSON }).catch(throwCanceled)
  const { clientDataJSON, attestationObject, transports } = response
  const created = { clientDataJSON, attestationObject, ...(transports && { transports }) }
  return answer(app.POST('/app/api/account/passkeys', { body: { name, response: { id, response: created } } }))
}

/** Browsers do not say why: a closed dialog and a missing passkey are the same error. */
function throwCanceled(error: unknown): never {
  const isCanceled = error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')
  if (isCanceled || error instanceof WebAuthnError) throw new PasskeyCanceledError(error.message, { cause: error })
  throw error
}
