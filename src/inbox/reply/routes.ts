import { idParams } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { api } from '../../api/route.ts'
import type { RefusalCode } from '../../base/refusal.ts'
import { showAccepted } from '../../sending/accept/accepted.ts'
import { sendAcceptedShape } from '../../sending/emails/schema.ts'
import { forwardMessage } from './forward.ts'
import { replyToMessage } from './reply.ts'
import type { AnswerUse } from './reply-sender.ts'
import { forwardBody, replyBody } from './schema.ts'

const refusals: readonly RefusalCode[] = [
  'not_found',
  'brand_restricted',
  'from_not_allowed',
  'attachments_too_large',
  'domain_not_verified',
  'too_many_recipients',
  'too_many_attachments',
  'recipient_suppressed',
]

const scope = ['email:send', 'inbox:read'] as const

/** SPEC section 4, Inbox: reply, reply-all and forward. */
export function replyRoutes(use: AnswerUse) {
  return api('replies')
    .post(
      '/v1/inbox/:id/reply',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        return showAccepted(await replyToMessage(use, { caller, id: params.id, reservation }, body, 'author'))
      },
      replying('replyToMessage', 'Reply to the sender of a message'),
    )
    .post(
      '/v1/inbox/:id/reply-all',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        return showAccepted(await replyToMessage(use, { caller, id: params.id, reservation }, body, 'all'))
      },
      replying('replyToAll', 'Reply to the sender and the recipients of a message'),
    )
    .post(
      '/v1/inbox/:id/forward',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        return showAccepted(await forwardMessage(use, { caller, id: params.id, reservation }, body))
      },
      {
        detail: says('forwardMessage', 'Forward a message', [
          ...refusals,
          'attachment_infected',
          'attachment_unscanned',
          'quota_exceeded',
        ]),
        scope,
        params: idParams,
        body: forwardBody,
        response: { 202: sendAcceptedShape },
      },
    )
}

function replying(operationId: string, summary: string) {
  return {
    detail: says(operationId, summary, [...refusals, 'no_content', 'no_reply_address', 'quota_exceeded']),
    scope,
    params: idParams,
    body: replyBody,
    response: { 202: sendAcceptedShape },
  }
}
