import { t } from 'elysia'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import { memberNameSchema } from '../members/schema.ts'
import type { SignInDeps } from '../sessions/deps.ts'
import { endOtherSessions, endSession, endSessionRefusals, readAccount, rename } from './account.ts'
import { authenticatorSecretPattern } from './authenticator.ts'
import {
  addAuthenticator,
  backupCodeRefusals,
  beginAuthenticator,
  beginPasskey,
  createPasskey,
  factorRefusals,
  removeAuthenticator,
  removeFactorRefusals,
  removePasskey,
  removePasskeyRefusals,
  replaceCodes,
  setPassword,
} from './factors.ts'
import { attestationSchema, registrationOptionsSchema } from './passkey-schema.ts'
import { maxPasswordLength } from './password-strength.ts'
import { accountSchema } from './schema.ts'

/** The account of whoever is signed in: their name and their sessions. */
export function accountRoutes(deps: SignInDeps) {
  return sessionApi('account')
    .get('/app/api/account', request => readAccount(deps, request), {
      detail: describeRoute('getAccount', 'Get the account of who is signed in', sessionRefusals),
      account: 'session',
      response: accountSchema,
    })
    .patch('/app/api/account', request => rename(deps, request, request.body.name), {
      detail: describeRoute('renameAccount', 'Change the name of who is signed in', sessionRefusals),
      account: 'session',
      body: t.Object({ name: memberNameSchema }),
      response: accountSchema,
    })
    .delete('/app/api/account/sessions/:id', request => endSession(deps, request, request.params.id), {
      detail: describeRoute('endSession', 'End one of the own sessions', endSessionRefusals),
      account: 'session',
      params: idParamsSchema,
      response: t.Object({ id: t.String(), ended: t.Literal(true) }),
    })
    .post('/app/api/account/sessions/end-others', request => endOtherSessions(deps, request), {
      detail: describeRoute('endOtherSessions', 'End all own sessions but this one', sessionRefusals),
      account: 'session',
      response: t.Object({ ended: t.Integer() }),
    })
}

/** How whoever is signed in proves who they are. Each change gives the session a new token. */
export function factorRoutes(deps: SignInDeps) {
  return sessionApi('factors')
    .post('/app/api/account/password', request => setPassword(deps, request, request.body.password), {
      detail: describeRoute('setPassword', 'Set the own password', factorRefusals),
      account: 'session',
      body: t.Object({ password: t.String({ minLength: 1, maxLength: 4 * maxPasswordLength }) }),
      response: accountSchema,
    })
    .post('/app/api/account/authenticator/begin', request => beginAuthenticator(request), {
      detail: describeRoute('beginAuthenticator', 'Get a secret for an authenticator', sessionRefusals),
      account: 'session',
      response: t.Object({ secret: t.String(), uri: t.String() }),
    })
    .post('/app/api/account/authenticator', request => addAuthenticator(deps, request, request.body), {
      detail: describeRoute('addAuthenticator', 'Add the authenticator that shows this code', factorRefusals),
      account: 'session',
      body: t.Object({
        secret: t.String({ pattern: authenticatorSecretPattern }),
        code: t.String({ minLength: 1, maxLength: 16 }),
      }),
      response: accountSchema,
    })
    .delete('/app/api/account/authenticator', request => removeAuthenticator(deps, request), {
      detail: describeRoute('removeAuthenticator', 'Remove the own authenticator', removeFactorRefusals),
      account: 'confirmed',
      response: accountSchema,
    })
    .post('/app/api/account/backup-codes', request => replaceCodes(deps, request), {
      detail: describeRoute('renewBackupCodes', 'Replace the own backup codes', backupCodeRefusals),
      account: 'confirmed',
      response: t.Object({ codes: t.Array(t.String()) }),
    })
    .post('/app/api/account/passkeys/options', request => beginPasskey(deps, request), {
      detail: describeRoute('beginPasskey', 'Get what a browser needs to create a passkey', factorRefusals),
      account: 'session',
      response: registrationOptionsSchema,
    })
    .post('/app/api/account/passkeys', request => createPasskey(deps, request, request.body), {
      detail: describeRoute('createPasskey', 'Add a passkey', factorRefusals),
      account: 'session',
      body: t.Object({ name: memberNameSchema, response: attestationSchema }),
      response: accountSchema,
    })
    .delete('/app/api/account/passkeys/:id', request => removePasskey(deps, request, request.params.id), {
      detail: describeRoute('removePasskey', 'Remove one of the own passkeys', removePasskeyRefusals),
      account: 'confirmed',
      params: idParamsSchema,
      response: accountSchema,
    })
}
