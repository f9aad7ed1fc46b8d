import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'

const passkeySchema = t.Object({
  id: t.String(),
  name: t.String(),
  host: t.String({ description: 'The host at which it works; at others browsers do not offer it.' }),
  created_at: dateTimeSchema,
  last_used_at: nullable(dateTimeSchema),
})

const ownSessionSchema = t.Object({
  id: t.String(),
  is_current: t.Boolean(),
  created_at: dateTimeSchema,
  last_used_at: dateTimeSchema,
  expires_at: dateTimeSchema,
  ip: t.String(),
  user_agent: nullable(t.String()),
})

/** The account of whoever is signed in. */
export const accountSchema = t.Object(
  {
    email: t.String(),
    name: t.String(),
    has_password: t.Boolean(),
    has_authenticator: t.Boolean(),
    backup_codes_left: t.Integer(),
    passkeys: t.Array(passkeySchema),
    sessions: t.Array(ownSessionSchema),
  },
  { title: 'Account' },
)

export type AccountJson = Static<typeof accountSchema>
