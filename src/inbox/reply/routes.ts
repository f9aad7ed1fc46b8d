import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { api } from '../../api/route.ts'
import { toJsonAccepted } from '../../sending/accept/accepted-response.ts'
import { sendAcceptedSchema } from '../../sending/emails/schema.ts'
import { forwardMessage, forwardRefusals } from './forward.ts'
import { replyRefusals, replyToMessage } from './reply.ts'
import type { ReplyDeps } from './reply-sender.ts'
import { forwardBodySchema, replyBodySchema } from './schema.ts'

const scope = ['email:send', 'inbox:read'] as const

/** Reply, reply-all and forward. */
export function replyRoutes(deps: ReplyDeps) {
  return api('replies')
    .post(
      '/v1/inbox/:id/reply',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        return toJsonAccepted(await replyToMessage(deps, { caller, id: params.id, reservation }, body, 'author'))
      },
      replyOptions('replyToMessage', 'Reply to the sender of a message'),
    )
    .post(
      '/v1/inbox/:id/reply-all',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        return toJsonAccepted(await replyToMessage(deps, { caller, id: params.id, reservation }, body, 'all'))
      },
      replyOptions('replyToAll', 'Reply to the sender and the recipients of a message'),
    )
    .post(
      '/v1/inbox/:id/forward',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        return toJsonAccepted(await forwardMessage(deps, { caller, id: params.id, reservation }, body))
      },
      {
        detail: describeRoute('forwardMessage', 'Forward a message', forwardRefusals),
        scope,
        params: idParamsSchema,
        body: forwardBodySchema,
        response: { 202: sendAcceptedSchema },
      },
    )
}

function replyOptions(operationId: string, summary: string) {
  return {
    detail: describeRoute(operationId, summary, replyRefusals),
    scope,
    params: idParamsSchema,
    body: replyBodySchema,
    response: { 202: sendAcceptedSchema },
  }
}
