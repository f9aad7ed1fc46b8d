import { t } from 'elysia'
import { idParams, nullable } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { changeMember, listMembers, type MembersUse, removeMember } from './members.ts'
import { brandIdsShape, memberShape, permissionsShape } from './schema.ts'

/** SPEC section 4, members. */
export function memberRoutes(use: MembersUse) {
  return api('members')
    .get('/v1/members', ({ caller, query }) => listMembers(use, caller, query), {
      detail: says('listMembers', 'List members and what they may do', ['invalid_cursor', 'brand_restricted']),
      scope: { scope: 'members:read', organizationOnly: true },
      query: t.Object({ limit: limitParam, cursor: t.Optional(t.String()) }),
      response: t.Object({ data: t.Array(memberShape), next_cursor: nullable(t.String()) }),
    })
    .patch(
      '/v1/members/:id',
      ({ caller, params, body, reservation }) => changeMember(use, caller, params.id, body, reservation),
      {
        detail: says('updateMember', 'Change the brands or permissions of a member', [
          'not_found',
          'brand_restricted',
          'role_fixed',
        ]),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParams,
        body: t.Object({ brand_ids: t.Optional(brandIdsShape), permissions: t.Optional(permissionsShape) }),
        response: memberShape,
      },
    )
    .delete('/v1/members/:id', ({ caller, params, reservation }) => removeMember(use, caller, params.id, reservation), {
      detail: says('removeMember', 'Remove a member and revoke their keys', [
        'not_found',
        'brand_restricted',
        'role_not_allowed',
        'last_owner',
      ]),
      scope: { scope: 'members:write', organizationOnly: true },
      params: idParams,
      response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
    })
}
