import { t } from 'elysia'
import { idParamsSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import {
  changeMember,
  changeMemberRefusals,
  getMember,
  listMembers,
  type MemberDeps,
  memberRefusals,
  removeMember,
  removeMemberRefusals,
} from './members.ts'
import { accessChangeSchema, memberSchema } from './schema.ts'

/** The operations on members. */
export function memberRoutes(deps: MemberDeps) {
  return api('members')
    .get('/v1/members', ({ caller, query }) => listMembers(deps, caller, query), {
      detail: describeRoute('listMembers', 'List members and what they may do'),
      scope: { scope: 'members:read', organizationOnly: true },
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }),
      response: t.Object({ data: t.Array(memberSchema), next_cursor: nullable(t.String()) }),
    })
    .get('/v1/members/:id', ({ caller, params }) => getMember(deps, caller, params.id), {
      detail: describeRoute('getMember', 'Get a member and what they may do', memberRefusals),
      scope: { scope: 'members:read', organizationOnly: true },
      params: idParamsSchema,
      response: memberSchema,
    })
    .patch(
      '/v1/members/:id',
      ({ caller, params, body, reservation }) => changeMember(deps, caller, params.id, body, reservation),
      {
        detail: describeRoute('updateMember', 'Change the brands or permissions of a member', changeMemberRefusals),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParamsSchema,
        body: accessChangeSchema,
        response: memberSchema,
      },
    )
    .delete(
      '/v1/members/:id',
      ({ caller, params, reservation }) => removeMember(deps, caller, params.id, reservation),
      {
        detail: describeRoute('removeMember', 'Remove a member and revoke their keys', removeMemberRefusals),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParamsSchema,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}
