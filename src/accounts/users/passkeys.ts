import type { Session } from '../../api/session/session.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isDuplicate } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import {
  type ChallengePurpose,
  challengeValidMs,
  closeChallenge,
  newChallenge,
  type OpenedChallenge,
  openChallenge,
} from './challenges.ts'
import {
  insertPasskey,
  type PasskeyRow,
  selectPasskeyByCredential,
  selectPasskeys,
  updatePasskeyUsed,
} from './factors-table.ts'
import type { AssertionJson, AssertionOptionsJson, AttestationJson, RegistrationOptionsJson } from './passkey-schema.ts'

export interface PasskeyDeps {
  readonly clock: Clock
  readonly secrets: Secrets
}

/** The page that asks, which the browser names in what the passkey signs. */
type SigningPage = { readonly origin: string }

/** Takes a fifth of a second to load, so it is loaded with the first use of a passkey. */
const loadWebAuthn = () => import('@simplewebauthn/server')

const userVerification = 'required'

const transportNames = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const
type Transport = (typeof transportNames)[number]

/** The relying party of a page is its host: passkeys of one host are unknown to another. */
function relyingParty({ origin }: SigningPage): string {
  return new URL(origin).hostname
}

/** What a browser needs to let somebody choose one of their passkeys for this host. */
export async function assertionOptions(
  deps: PasskeyDeps,
  page: SigningPage,
  purpose: ChallengePurpose,
): Promise<AssertionOptionsJson> {
  const { generateAuthenticationOptions } = await loadWebAuthn()
  const rpId = relyingParty(page)
  const { challenge } = await generateAuthenticationOptions({ rpID: rpId, challenge: newChallenge(deps, purpose) })
  return { challenge, rpId, timeout: challengeValidMs, userVerification }
}

/** A passkey that signed a challenge of ours. */
export interface VerifiedAssertion {
  readonly passkey: PasskeyRow
  readonly challenge: OpenedChallenge
  readonly signCount: number
}

/** undefined: no passkey that is known here signed this, for this page and purpose. */
export async function verifyAssertion(
  db: Db,
  deps: PasskeyDeps,
  page: SigningPage,
  purpose: ChallengePurpose,
  { id, response }: AssertionJson,
): Promise<VerifiedAssertion | undefined> {
  const passkey = await selectPasskeyByCredential(db, Buffer.from(id, 'base64url'))
  if (!passkey) return undefined
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  let challenge: OpenedChallenge | undefined
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
      expectedChallenge: text => {
        challenge = openChallenge(deps, text, purpose)
        return challenge !== undefined
      },
      expectedOrigin: page.origin,
      expectedRPID: relyingParty(page),
      requireUserVerification: true,
      credential: {
        id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.sign_count,
        transports: readTransports(passkey.transports),
      },
    })
    return verified && challenge ? { passkey, challenge, signCount: authenticationInfo.newCounter } : undefined
  } catch {
    // The library throws for each thing that is wrong: origin, challenge, signature, sign count.
    return undefined
  }
}

/** Notes the use, in the transaction that acts on it. False: the answer was used before. */
export async function recordAssertion(db: Db, assertion: VerifiedAssertion, clock: Clock): Promise<boolean> {
  if (!(await closeChallenge(db, assertion.challenge))) return false
  await updatePasskeyUsed(db, assertion.passkey.id, { sign_count: assertion.signCount, last_used_at: clock.now() })
  return true
}

/** What a browser needs to create a passkey that names its person by itself (discoverable) and asks for their finger or PIN. */
export async function registrationOptions(
  db: Db,
  deps: PasskeyDeps,
  page: SigningPage,
  session: Session,
): Promise<RegistrationOptionsJson> {
  const { generateRegistrationOptions } = await loadWebAuthn()
  const known = await selectPasskeys(db, session.userId)
  const rpId = relyingParty(page)
  const { challenge, user, pubKeyCredParams } = await generateRegistrationOptions({
    rpName: 'Mailroom',
    rpID: rpId,
    userName: session.email,
    userDisplayName: session.name,
    userID: new Uint8Array(Buffer.from(session.userId)),
    challenge: newChallenge(deps, `add ${session.id}`),
  })
  return {
    challenge,
    user,
    pubKeyCredParams: pubKeyCredParams.map(({ alg }) => ({ alg, type: 'public-key' })),
    rp: { id: rpId, name: 'Mailroom' },
    timeout: challengeValidMs,
    excludeCredentials: known.map(row => ({
      id: row.credential_id.toString('base64url'),
      type: 'public-key',
      transports: readTransports(row.transports),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification },
  }
}

/** Checks what a browser created for {@link registrationOptions}. @throws Refusal `invalid_request` */
export async function verifyRegistration(
  deps: PasskeyDeps,
  page: SigningPage,
  session: Session,
  { id, response }: AttestationJson,
): Promise<{ readonly row: Omit<PasskeyRow, 'name'>; readonly challenge: OpenedChallenge }> {
  const { verifyRegistrationResponse } = await loadWebAuthn()
  let challenge: OpenedChallenge | undefined
  const result = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { ...response, transports: readTransports(response.transports?.join(' ') ?? '') },
      clientExtensionResults: {},
    },
    expectedChallenge: text => {
      challenge = openChallenge(deps, text, `add ${session.id}`)
      return challenge !== undefined
    },
    expectedOrigin: page.origin,
    expectedRPID: relyingParty(page),
    requireUserVerification: true,
  }).catch((cause: unknown) => {
    throw notAccepted(cause)
  })
  if (!result.verified || !challenge) throw notAccepted()
  const { credential } = result.registrationInfo
  const row = {
    id: newId('pky'),
    user_id: session.userId,
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    sign_count: credential.counter,
    transports: (credential.transports ?? []).join(' '),
    host: relyingParty(page),
    created_at: deps.clock.now(),
    last_used_at: null,
  }
  return { row, challenge }
}

/** Stores a passkey, in the transaction that changes the account. @throws Refusal `invalid_request` */
export async function addPasskey(db: Db, row: PasskeyRow, challenge: OpenedChallenge): Promise<void> {
  if (!(await closeChallenge(db, challenge))) throw notAccepted()
  try {
    await insertPasskey(db, row)
  } catch (error) {
    if (isDuplicate(error, 'passkeys_credential')) throw notAccepted(error)
    throw error
  }
}

function notAccepted(cause?: unknown) {
  return refuse('invalid_request', {
    message:
      'This passkey was not accepted: it must be made on this page, within five minutes, with your finger or PIN.',
    param: 'response',
    cause,
  })
}

function readTransports(text: string): Transport[] {
  return text.split(' ').filter((name): name is Transport => (transportNames as readonly string[]).includes(name))
}
