import { t } from 'elysia'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { cursorRefusals, limitParamSchema } from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { managerRefusals } from '../members/manager.ts'
import { changeRoleRefusals } from '../members/members.ts'
import { memberSchema } from '../members/schema.ts'
import { changePersonRole, endSessions, listPeople, type PeopleDeps } from './people.ts'
import { endedSessionsSchema, newRoleSchema, personPageSchema } from './schema.ts'

/** The members of an organization, in the dashboard: what the API does not show or change of them. */
export function sessionPeopleRoutes(deps: PeopleDeps) {
  return sessionApi('session-people')
    .get('/app/api/people', ({ member, query }) => listPeople(deps, member, query), {
      detail: describeRoute('listPeople', 'List members with how they sign in', [
        ...managerRefusals,
        ...cursorRefusals,
      ]),
      member: 'session',
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }),
      response: personPageSchema,
    })
    .post('/app/api/people/:id/end-sessions', ({ member, params }) => endSessions(deps, member, params.id), {
      detail: describeRoute('endPersonSessions', 'Sign a member out everywhere', [...managerRefusals, 'not_found']),
      member: 'session',
      params: idParamsSchema,
      response: endedSessionsSchema,
    })
    .patch('/app/api/people/:id/role', ({ member, params, body }) => changePersonRole(deps, member, params.id, body), {
      detail: describeRoute('changePersonRole', 'Change the role of a member', changeRoleRefusals),
      member: 'confirmed',
      params: idParamsSchema,
      body: newRoleSchema,
      response: memberSchema,
    })
}
