import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { invitationLinkSchema } from '../invitations/schema.ts'
import { permissionsSchema, roles } from '../members/schema.ts'

const organizationSchema = t.Object({
  id: t.String(),
  name: t.String(),
  plan: oneOf(['free', 'paid', 'unlimited'] as const),
  role: oneOf(roles),
  member_id: t.String(),
  permissions: permissionsSchema,
  has_api_access: t.Boolean(),
  brands: t.Array(t.Object({ id: t.String(), name: t.String(), slug: t.String() }), {
    description: 'Those that the person may use, the oldest first.',
  }),
})

/** Who is signed in, and what they may use. */
export const sessionSchema = t.Object(
  {
    user: t.Object({ id: t.String(), email: t.String(), name: t.String() }),
    is_operator: t.Boolean(),
    needs_factor: t.Boolean({ description: 'Must add a passkey or an authenticator before anything else is shown.' }),
    is_confirmed: t.Boolean({ description: 'A factor was presented within the last ten minutes.' }),
    is_localhost: t.Boolean({ description: 'A trial on this machine, where a password alone will do.' }),
    organizations: t.Array(organizationSchema),
  },
  { title: 'Session' },
)

/** Whom a login link signs in. */
export const welcomeSchema = t.Object(
  {
    email: t.String(),
    name: t.String(),
    organization: nullable(t.Object({ name: t.String() })),
    has_account: t.Boolean({ description: 'They have signed in before: their name is known.' }),
    must_sign_in: t.Boolean({
      description: 'The email is that of an account: its person signs in first, and then takes the link.',
    }),
    expires_at: dateTimeSchema,
  },
  { title: 'Welcome' },
)

/** What an invitation grants. */
export const invitationLookSchema = t.Object(
  {
    ...invitationLinkSchema.properties,
    has_account: t.Boolean({ description: 'Whom it is for has an account: they sign in first, and then accept.' }),
  },
  { title: 'InvitationLook' },
)

export type SessionJson = Static<typeof sessionSchema>
export type WelcomeJson = Static<typeof welcomeSchema>
export type InvitationLookJson = Static<typeof invitationLookSchema>
