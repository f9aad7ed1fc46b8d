import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { ifUpdatedAtSchema } from '../../api/if-updated-at.ts'
import { toIso } from '../../base/clock.ts'
import { brandIdsSchema, memberSchema, permissionsSchema, roles } from '../members/schema.ts'
import type { PersonFactorsRow } from './table.ts'

/** How a member signs in; null: they have not signed in to the dashboard yet. */
const factorsSchema = nullable(
  t.Object({
    has_password: t.Boolean(),
    has_authenticator: t.Boolean(),
    passkeys: t.Integer(),
    sessions: t.Integer({ description: 'In how many browsers they are signed in.' }),
    last_sign_in_at: nullable(dateTimeSchema),
  }),
)

/** A member in the dashboard. */
export const personSchema = t.Object(
  {
    ...memberSchema.properties,
    live_keys: t.Integer({ description: 'Keys of their own, which end when they are removed.' }),
    factors: factorsSchema,
  },
  { title: 'Person' },
)

export type PersonJson = Static<typeof personSchema>

export const personPageSchema = t.Object({ data: t.Array(personSchema), next_cursor: nullable(t.String()) })

/** The role that a member gets, with brands and permissions for the role `member` alone. */
export const newRoleSchema = t.Object({
  role: oneOf(roles),
  brand_ids: t.Optional(brandIdsSchema),
  permissions: t.Optional(permissionsSchema),
  if_updated_at: ifUpdatedAtSchema,
})

export const endedSessionsSchema = t.Object({ id: t.String(), ended: t.Integer() })

export function toJsonFactors(row: PersonFactorsRow | undefined): PersonJson['factors'] {
  if (!row) return null
  return {
    has_password: Number(row.has_password) === 1,
    has_authenticator: Number(row.has_authenticator) === 1,
    passkeys: row.passkeys,
    sessions: row.sessions,
    last_sign_in_at: row.last_sign_in_at && toIso(row.last_sign_in_at),
  }
}
