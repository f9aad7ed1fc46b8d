import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { lastUpdatedAt } from '../../api/if-updated-at.ts'
import { toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import { parsePermissions } from '../keys/permissions.ts'
import { permissionsSchema } from '../members/schema.ts'
import type { InvitationRow } from './table.ts'

const fields = {
  id: t.String(),
  email: nullable(t.String()),
  role: t.Literal('member'),
  brand_ids: t.Array(t.String()),
  permissions: permissionsSchema,
  status: t.Literal('open'),
  invited_by: nullable(t.String({ description: 'The member who sent the invitation; null: the operator.' })),
  created_at: dateTimeSchema,
  updated_at: t.String({ format: 'date-time', description: 'When the brands or permissions last changed.' }),
  expires_at: dateTimeSchema,
}

/** An open invitation in API responses. */
export const invitationSchema = t.Object(fields, { title: 'Invitation' })

/** The response to its creation. */
export const createdInvitationSchema = t.Object(
  {
    ...fields,
    link: t.String({ description: 'Returned only here. Anyone who has it may accept the invitation.' }),
  },
  { title: 'InvitationMade' },
)

/** What the holder of an invitation's link is shown. */
export const invitationLinkSchema = t.Object(
  {
    organization: t.Object({ name: t.String() }),
    brands: t.Array(t.Object({ name: t.String() })),
    email: nullable(t.String({ description: 'The only address that may accept it; null: any.' })),
    role: t.Literal('member'),
    permissions: permissionsSchema,
    expires_at: dateTimeSchema,
  },
  { title: 'InvitationLink' },
)

export type InvitationJson = Static<typeof invitationSchema>
export type CreatedInvitationJson = Static<typeof createdInvitationSchema>
export type InvitationLinkJson = Static<typeof invitationLinkSchema>

export function toJsonInvitation(row: InvitationRow): InvitationJson {
  return {
    id: row.id,
    email: row.email,
    role: 'member',
    brand_ids: [...fromJson(row.brand_ids)],
    permissions: [...parsePermissions(row.permissions)],
    status: 'open',
    invited_by: row.invited_by,
    created_at: toIso(row.created_at),
    updated_at: toIso(lastUpdatedAt(row)),
    expires_at: toIso(row.expires_at),
  }
}
