import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import { inTransaction } from '../../base/database/database.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { sessionActor } from '../audit/session-actor.ts'
import { memberNameSchema } from '../members/schema.ts'
import { assertionOptionsSchema, assertionSchema } from '../users/passkey-schema.ts'
import { maxPasswordLength } from '../users/password-strength.ts'
import { confirmRefusals, confirmWithPasskey, confirmWithPassword, passkeyConfirmOptions } from './confirm.ts'
import type { SignInDeps } from './deps.ts'
import { acceptInvitationAs, invitedRefusals, joinByInvitation, lookAtInvitation } from './invited.ts'
import { invitationLookSchema, sessionSchema, welcomeSchema } from './schema.ts'
import { toJsonIssuedSession, toJsonSession } from './session-json.ts'
import { clearSessionCookie } from './sessions.ts'
import {
  passkeyRefusals,
  passkeySignInOptions,
  passwordRefusals,
  signInWithPasskey,
  signInWithPassword,
} from './sign-in.ts'
import { deleteSession } from './table.ts'
import { loginLinkRefusals, lookAtLoginLink, takeLoginLink } from './welcome.ts'

const email = t.String({ minLength: 1, maxLength: 320 })
// Longer than a password may be: what is typed by mistake is wrong, not malformed.
const password = t.String({ minLength: 1, maxLength: 4 * maxPasswordLength })
const code = t.String({ minLength: 1, maxLength: 64 })
const token = t.String({ minLength: 1, maxLength: 128 })

/** Signing in and out, and confirming who is signed in. */
export function sessionRoutes(deps: SignInDeps) {
  const { db, clock } = deps
  return sessionApi('sessions')
    .get('/app/api/session', ({ session, context }) => toJsonSession(deps, session, context.isLocalhost), {
      detail: describeRoute('getSession', 'Get who is signed in', sessionRefusals),
      account: 'session',
      response: sessionSchema,
    })
    .post(
      '/app/api/sign-in',
      async ({ context, body }) => {
        const { id } = await signInWithPassword(deps, context, body)
        return toJsonIssuedSession(deps, id, context.isLocalhost)
      },
      {
        detail: describeRoute('signIn', 'Sign in with a password', passwordRefusals),
        visitor: true,
        body: t.Object({ email, password, code: t.Optional(code) }),
        response: sessionSchema,
      },
    )
    .post('/app/api/sign-in/passkey/options', ({ context }) => passkeySignInOptions(deps, context), {
      detail: describeRoute('getPasskeySignInOptions', 'Get what a browser needs to sign in with a passkey'),
      visitor: true,
      response: assertionOptionsSchema,
    })
    .post(
      '/app/api/sign-in/passkey',
      async ({ context, body }) => {
        const { id } = await signInWithPasskey(deps, context, body.response)
        return toJsonIssuedSession(deps, id, context.isLocalhost)
      },
      {
        detail: describeRoute('signInWithPasskey', 'Sign in with a passkey', passkeyRefusals),
        visitor: true,
        body: t.Object({ response: assertionSchema }),
        response: sessionSchema,
      },
    )
    .post(
      '/app/api/sign-out',
      async ({ context, session }) => {
        await inTransaction(db, async tx => {
          await deleteSession(tx, session.userId, session.id)
          const entry = { action: 'account.sign_out', subject: session.userId }
          await recordAuditEntry(tx, sessionActor(session, context, clock), entry)
        })
        clearSessionCookie(context)
        return { signed_out: true as const }
      },
      {
        detail: describeRoute('signOut', 'Sign out', sessionRefusals),
        account: 'session',
        response: t.Object({ signed_out: t.Literal(true) }),
      },
    )
    .post(
      '/app/api/confirm',
      async ({ context, session, body }) => {
        const { id } = await confirmWithPassword(deps, context, session, body)
        return toJsonIssuedSession(deps, id, context.isLocalhost)
      },
      {
        detail: describeRoute('confirm', 'Confirm who is signed in', confirmRefusals),
        account: 'session',
        body: t.Object({ password: t.Optional(password), code: t.Optional(code) }),
        response: sessionSchema,
      },
    )
    .post('/app/api/confirm/passkey/options', ({ context, session }) => passkeyConfirmOptions(deps, context, session), {
      detail: describeRoute('getPasskeyConfirmOptions', 'Get what a browser needs to confirm', sessionRefusals),
      account: 'session',
      response: assertionOptionsSchema,
    })
    .post(
      '/app/api/confirm/passkey',
      async ({ context, session, body }) => {
        const { id } = await confirmWithPasskey(deps, context, session, body.response)
        return toJsonIssuedSession(deps, id, context.isLocalhost)
      },
      {
        detail: describeRoute('confirmWithPasskey', 'Confirm with a passkey who is signed in', confirmRefusals),
        account: 'session',
        body: t.Object({ response: assertionSchema }),
        response: sessionSchema,
      },
    )
}

/** Signing in with a link: the first time, after every factor was lost, or as who was invited. */
export function sessionLinkRoutes(deps: SignInDeps) {
  return sessionApi('session links')
    .post('/app/api/welcome/look', ({ body }) => lookAtLoginLink(deps, body.token), {
      detail: describeRoute('lookAtLoginLink', 'Get whom a login link signs in', loginLinkRefusals),
      visitor: true,
      body: t.Object({ token }),
      response: welcomeSchema,
    })
    .post(
      '/app/api/welcome',
      async ({ context, body }) => {
        const { id } = await takeLoginLink(deps, context, body)
        return toJsonIssuedSession(deps, id, context.isLocalhost)
      },
      {
        detail: describeRoute('takeLoginLink', 'Sign in with a login link', loginLinkRefusals),
        visitor: true,
        body: t.Object({ token, name: t.Optional(memberNameSchema) }),
        response: sessionSchema,
      },
    )
    .post('/app/api/invitations/look', ({ body }) => lookAtInvitation(deps, body.token), {
      detail: describeRoute('lookAtInvitation', 'Get what an invitation grants', invitedRefusals),
      visitor: true,
      body: t.Object({ token }),
      response: invitationLookSchema,
    })
    .post(
      '/app/api/invitations/join',
      async ({ context, body }) => {
        const { id } = await joinByInvitation(deps, context, body)
        return toJsonIssuedSession(deps, id, context.isLocalhost)
      },
      {
        detail: describeRoute('joinByInvitation', 'Accept an invitation as a new person', invitedRefusals),
        visitor: true,
        body: t.Object({ token, email: t.Optional(email), name: memberNameSchema }),
        response: sessionSchema,
      },
    )
    .post(
      '/app/api/invitations/accept',
      async ({ context, session, body }) => {
        await acceptInvitationAs(deps, context, session, body.token)
        return toJsonIssuedSession(deps, session.id, context.isLocalhost)
      },
      {
        detail: describeRoute('acceptInvitationAsPerson', 'Accept an invitation as who is signed in', [
          ...sessionRefusals,
          ...invitedRefusals,
        ]),
        account: 'session',
        body: t.Object({ token }),
        response: sessionSchema,
      },
    )
}
