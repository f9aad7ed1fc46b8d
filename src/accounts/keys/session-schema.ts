import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { scopes } from '../../api/scope.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import { resolveKeyAccess } from './access.ts'
import { parseScopes } from './permissions.ts'
import type { KeyPageRow } from './table.ts'

const keyStates = ['active', 'suspended', 'disabled', 'expired', 'revoked'] as const

const keyMemberSchema = nullable(
  t.Object({
    id: t.String(),
    email: nullable(t.String({ description: 'null: the member was removed.' })),
  }),
)

/** A key in the dashboard, without its secret. */
export const keySchema = t.Object(
  {
    id: t.String(),
    name: t.String(),
    scopes: t.Array(oneOf(scopes)),
    brand: nullable(t.Object({ id: t.String(), name: t.String() })),
    member: keyMemberSchema,
    maker: keyMemberSchema,
    state: oneOf(keyStates, {
      description: 'suspended: its member no longer has what it needs; disabled: by the operator of the instance.',
    }),
    state_detail: nullable(t.String({ description: 'Why it is suspended.' })),
    created_at: dateTimeSchema,
    last_used_at: nullable(dateTimeSchema),
    expires_at: nullable(dateTimeSchema),
    revoked_at: nullable(dateTimeSchema),
  },
  { title: 'Key' },
)

export type KeyJson = Static<typeof keySchema>

/** Whether the person may create keys and, where not, whom they can ask. */
const apiAccessSchema = t.Object({
  is_granted: t.Boolean(),
  ask: t.Array(t.String(), { description: 'Addresses of owners, who can grant it.' }),
})

export const keyPageSchema = t.Object({
  data: t.Array(keySchema),
  next_cursor: nullable(t.String()),
  api_access: apiAccessSchema,
})

export type KeyPageJson = Static<typeof keyPageSchema>

const maxNameLength = 120

export const newKeySchema = t.Object({
  name: t.String({
    minLength: 1,
    maxLength: maxNameLength,
    pattern: '^(?=.*\\S)[^\\x00-\\x1f\\x7f]*$',
    expected: 'a name of 1 to 120 characters on one line',
  }),
  scopes: t.Array(oneOf(scopes), { minItems: 1, maxItems: scopes.length }),
  brand_id: t.Optional(t.String({ description: 'The one brand that the key is restricted to.' })),
  expires_at: t.Optional(t.String({ expected: 'a date-time in the future, such as 2027-01-31T08:15:00Z' })),
})

export const createdKeySchema = t.Object({
  id: t.String(),
  key: t.String({ description: 'The whole key: it is not stored and cannot be shown again.' }),
})

export function toJsonKey(row: KeyPageRow, now: Instant): KeyJson {
  const { state, detail } = stateOf(row, now)
  return {
    id: row.id,
    name: row.name,
    scopes: [...parseScopes(row.scopes)],
    brand: row.brand_id === null ? null : { id: row.brand_id, name: row.brand_name ?? row.brand_id },
    member: toJsonKeyMember(row.member_id, row.member_email),
    maker: toJsonKeyMember(row.maker_id, row.maker_email),
    state,
    state_detail: detail,
    created_at: toIso(row.created_at),
    last_used_at: row.last_used_at && toIso(row.last_used_at),
    expires_at: row.expires_at && toIso(row.expires_at),
    revoked_at: row.revoked_at && toIso(row.revoked_at),
  }
}

function toJsonKeyMember(id: Id<'mem'> | null, email: string | null): KeyJson['member'] {
  return id && { id, email }
}

function stateOf(row: KeyPageRow, now: Instant): { readonly state: KeyJson['state']; readonly detail: string | null } {
  if (row.revoked_at !== null) return { state: 'revoked', detail: null }
  const access = resolveKeyAccess(row)
  if (!access) return { state: 'revoked', detail: null }
  if (row.expires_at !== null && row.expires_at <= now) return { state: 'expired', detail: null }
  if (row.disabled_at !== null) return { state: 'disabled', detail: null }
  if (access.denial) return { state: 'suspended', detail: access.denial.message }
  return { state: 'active', detail: null }
}
