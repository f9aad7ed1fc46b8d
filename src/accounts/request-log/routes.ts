import { t } from 'elysia'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { listRequests, type RequestsUse } from './list.ts'
import { requestPage } from './schema.ts'

/** SPEC section 4, Request logs. */
export function requestRoutes(use: RequestsUse) {
  return api('requests').get('/v1/requests', ({ caller, query }) => listRequests(use, caller, query), {
    detail: says('listRequests', 'List requests made to the API'),
    scope: 'email:read',
    query: t.Object({
      limit: limitParam,
      before: t.Optional(t.String({ maxLength: 64, description: 'Shows earlier ones: pass on `next_before`.' })),
      status: t.Optional(t.String({ pattern: '^[1-5][0-9]{2}$', expected: 'an HTTP status such as 404' })),
      method: t.Optional(t.String({ pattern: '^[A-Za-z]{1,10}$', expected: 'an HTTP method such as POST' })),
    }),
    response: requestPage,
  })
}
