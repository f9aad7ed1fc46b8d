import { type Static, t } from 'elysia'
import { dateTime, nullable } from '../../api/common-schemas.ts'
import { toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import { readPermissions } from '../keys/permissions.ts'
import { permissionsShape } from '../members/schema.ts'
import type { InvitationRow } from './table.ts'

const fields = {
  id: t.String(),
  email: nullable(t.String()),
  role: t.Literal('member'),
  brand_ids: t.Array(t.String()),
  permissions: permissionsShape,
  status: t.Literal('open'),
  invited_by: nullable(t.String({ description: 'The member who invited; null: the operator' })),
  created_at: dateTime,
  expires_at: dateTime,
}

/** An open invitation as the API shows it. */
export const invitationShape = t.Object(fields, { title: 'Invitation' })

/** The same, when it is made. */
export const madeInvitationShape = t.Object(
  {
    ...fields,
    link: t.String({ description: 'Shown this once; whoever has it may accept' }),
  },
  { title: 'InvitationMade' },
)

/** An invitation as whoever holds its link sees it. */
export const linkedInvitationShape = t.Object(
  {
    organization: t.Object({ name: t.String() }),
    brands: t.Array(t.Object({ name: t.String() })),
    email: nullable(t.String({ description: 'Whom it is for; null: anyone with the link' })),
    role: t.Literal('member'),
    permissions: permissionsShape,
    expires_at: dateTime,
  },
  { title: 'InvitationLink' },
)

export type InvitationShape = Static<typeof invitationShape>
export type MadeInvitationShape = Static<typeof madeInvitationShape>
export type LinkedInvitationShape = Static<typeof linkedInvitationShape>

export function showInvitation(row: InvitationRow): InvitationShape {
  return {
    id: row.id,
    email: row.email,
    role: 'member',
    brand_ids: [...fromJson(row.brand_ids)],
    permissions: [...readPermissions(row.permissions)],
    status: 'open',
    invited_by: row.invited_by,
    created_at: toIso(row.created_at),
    expires_at: toIso(row.expires_at),
  }
}
