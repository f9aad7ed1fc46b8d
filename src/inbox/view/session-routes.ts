import { t } from 'elysia'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute, type OperationDescription } from '../../api/describe.ts'
import { memberScopeRefusals, requireMemberScope } from '../../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import type { SendDeps } from '../../sending/accept/open-sending.ts'
import { emailRefusals } from '../../sending/emails/emails.ts'
import { messageRefusals } from '../messages/messages.ts'
import type { InboxDeps } from '../routes.ts'
import { viewMessage } from './view-message.ts'
import { viewSentEmail } from './view-sent-email.ts'

export interface ViewDeps extends Pick<InboxDeps, 'db' | 'blobs' | 'texts'> {
  readonly sending: SendDeps
}

const query = t.Object(
  {
    remote: t.Optional(
      t.Union([t.Literal('block'), t.Literal('allow')], {
        description: 'Whether remote images are shown; default block.',
      }),
    ),
  },
  { additionalProperties: false },
)

const document: Pick<OperationDescription, 'responses'> = {
  responses: { 200: { description: 'A document for a frame.', content: { 'text/html': {} } } },
}

/** Messages and sent emails as documents that the dashboard shows in frames; links to them name the organization. */
export function viewRoutes({ sending, ...inbox }: ViewDeps) {
  return sessionApi('message-views')
    .get(
      '/app/message/:id/view',
      ({ context, member, params, query: { remote = 'block' } }) => {
        requireMemberScope(member, 'inbox:read')
        return viewMessage(inbox, member, params.id, remote, context.reserveMemory)
      },
      {
        detail: {
          ...describeRoute('viewMessage', 'Show a received message', [
            ...sessionRefusals,
            ...memberScopeRefusals,
            ...messageRefusals,
          ]),
          ...document,
        },
        member: 'session',
        params: idParamsSchema,
        query,
      },
    )
    .get(
      '/app/sent-email/:id/view',
      ({ context, member, params, query: { remote = 'block' } }) => {
        requireMemberScope(member, 'email:read')
        return viewSentEmail({ sending, texts: inbox.texts }, member, params.id, remote, context.reserveMemory)
      },
      {
        detail: {
          ...describeRoute('viewSentEmail', 'Show a sent email', [
            ...sessionRefusals,
            ...memberScopeRefusals,
            ...emailRefusals,
          ]),
          ...document,
        },
        member: 'session',
        params: idParamsSchema,
        query,
      },
    )
}
