import { describeRoute } from '../../../api/describe.ts'
import { requireFactor, requireUsableMember, sessionApi, sessionRefusals } from '../../../api/session/session-route.ts'
import { type Live, liveRefusals } from './live.ts'

/** `/app/api/live`: which lists and counts of an organization changed, or without one, those that operators see. */
export function liveRoutes(live: Live) {
  return sessionApi('live').get(
    '/app/api/live',
    async ({ request, context, session }) => {
      const isInstance = context.namedOrganization === null && requireFactor(session).isOperator
      const scope = isInstance ? 'instance' : (await requireUsableMember(context)).organizationId
      const body = live.listen({
        sessionId: session.id,
        userId: session.userId,
        scope,
        isReconnecting: request.headers.has('last-event-id'),
      })
      return new Response(body, {
        // Otherwise nginx would keep events until it has a buffer full of them.
        headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
      })
    },
    {
      account: 'session',
      detail: {
        ...describeRoute('live', 'Hear what changes', [...sessionRefusals, ...liveRefusals]),
        responses: {
          200: {
            description: 'Server-sent events. The data of each is a list of topics: `messages,emails`.',
            content: { 'text/event-stream': {} },
          },
        },
      },
    },
  )
}
