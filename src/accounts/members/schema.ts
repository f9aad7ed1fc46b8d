import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { type ConditionalChange, ifUpdatedAtSchema, lastUpdatedAt } from '../../api/if-updated-at.ts'
import { toIso } from '../../base/clock.ts'
import { parseAddress } from '../../mail/address.ts'
import { type Permission, parsePermissions, permissions } from '../keys/permissions.ts'
import type { MemberRow } from './table.ts'

export const roles = ['owner', 'admin', 'member'] as const

const maxBrands = 1000

export const maxMemberNameLength = 120

export const memberNameSchema = t.String({
  minLength: 1,
  maxLength: maxMemberNameLength,
  pattern: '^(?=.*\\S)[^\\x00-\\x1f\\x7f]*$',
  expected: 'a name of 1 to 120 characters on one line',
})

export const brandIdsSchema = t.Array(t.String({ minLength: 1 }), { minItems: 1, maxItems: maxBrands })

export const permissionsSchema = t.Array(oneOf(permissions), { maxItems: permissions.length })

/** The body of PATCH, of a member and of an invitation. */
export const accessChangeSchema = t.Object({
  brand_ids: t.Optional(brandIdsSchema),
  permissions: t.Optional(permissionsSchema),
  if_updated_at: ifUpdatedAtSchema,
})

/** The brands and permissions to change; undefined: unchanged. */
export interface AccessChange extends ConditionalChange {
  readonly brand_ids?: readonly string[] | undefined
  readonly permissions?: readonly Permission[] | undefined
}

/** A member in API responses. An owner or admin has all brands (null) and all permissions. */
export const memberSchema = t.Object(
  {
    id: t.String(),
    email: t.String(),
    name: t.String(),
    role: oneOf(roles),
    brand_ids: nullable(t.Array(t.String())),
    permissions: permissionsSchema,
    created_at: dateTimeSchema,
    updated_at: t.String({ format: 'date-time', description: 'When the role, brands or permissions last changed.' }),
    last_active_at: nullable(dateTimeSchema),
  },
  { title: 'Member' },
)

export type MemberJson = Static<typeof memberSchema>

export function toJsonMember(row: MemberRow, brandIds: readonly string[]): MemberJson {
  const isLimited = row.role === 'member'
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    brand_ids: isLimited ? [...brandIds] : null,
    permissions: [...(isLimited ? parsePermissions(row.permissions) : permissions)],
    created_at: toIso(row.created_at),
    updated_at: toIso(lastUpdatedAt(row)),
    last_active_at: row.last_active_at && toIso(row.last_active_at),
  }
}

/** A bare address in lower case, the form that identifies members; undefined when the text is no bare address. */
export function canonicalEmail(text: string): string | undefined {
  const parsed = parseAddress(text)
  return parsed && parsed.name === '' ? parsed.address.toLowerCase() : undefined
}
