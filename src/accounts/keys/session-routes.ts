import { t } from 'elysia'
import { idParamsSchema, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { cursorRefusals, limitParamSchema } from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { revokeKeyAsMember } from './member-keys.ts'
import { createSessionKey, listKeyPage, type SessionKeysDeps } from './session-keys.ts'
import { createdKeySchema, keyPageSchema, newKeySchema } from './session-schema.ts'

/** The keys of an organization, in the dashboard: a `member` sees, creates and revokes only their own. */
export function sessionKeyRoutes(deps: SessionKeysDeps) {
  return sessionApi('session-keys')
    .get('/app/api/keys', ({ member, query }) => listKeyPage(deps, member, query), {
      detail: describeRoute('listKeys', 'List API keys', [...cursorRefusals, 'not_found']),
      member: 'session',
      query: t.Object({
        limit: limitParamSchema,
        cursor: t.Optional(t.String()),
        member_id: t.Optional(t.String({ description: 'Only keys that belong to this member.' })),
        state: t.Optional(oneOf(['live', 'all'], { description: 'all: revoked and expired keys too.' })),
      }),
      response: keyPageSchema,
    })
    .post(
      '/app/api/keys',
      ({ member, body, set }) => {
        set.status = 201
        return createSessionKey(deps, member, body)
      },
      {
        detail: describeRoute('createKey', 'Create an API key, which is shown only now', [
          'not_found',
          'insufficient_scope',
          'brand_restricted',
        ]),
        member: 'confirmed',
        body: newKeySchema,
        response: { 201: createdKeySchema },
      },
    )
    .delete(
      '/app/api/keys/:id',
      async ({ member, params }) => {
        await revokeKeyAsMember(deps.db, member, params.id, deps.clock)
        return { id: params.id, deleted: true as const }
      },
      {
        detail: describeRoute('revokeKey', 'Revoke an API key, from its next request on', ['not_found']),
        member: 'session',
        params: idParamsSchema,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}
