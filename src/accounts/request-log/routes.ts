import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { listRequests, type RequestLogDeps } from './list.ts'
import { requestPageSchema } from './schema.ts'

/** The request log. */
export function requestRoutes(deps: RequestLogDeps) {
  return api('requests').get('/v1/requests', ({ caller, query }) => listRequests(deps, caller, query), {
    detail: describeRoute('listRequests', 'List API requests'),
    scope: 'email:read',
    query: t.Object({
      limit: limitParamSchema,
      before: t.Optional(t.String({ description: 'Only requests before this instant: pass on `next_before`.' })),
      status: t.Optional(t.String({ pattern: '^[1-5][0-9]{2}$', expected: 'an HTTP status such as 404' })),
      method: t.Optional(t.String({ pattern: '^[A-Za-z]{1,10}$', expected: 'an HTTP method such as POST, or SMTP' })),
    }),
    response: requestPageSchema,
  })
}
