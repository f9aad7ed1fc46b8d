import { t } from 'elysia'
import { brandRefusals } from '../../accounts/brands/brands.ts'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { describeFile, fileResponse } from '../../api/file-response.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { toJsonAccepted } from '../accept/accepted-response.ts'
import type { SendDeps } from '../accept/open-sending.ts'
import { send, sendRefusals } from '../send.ts'
import { cancelEmail, cancelEmailRefusals } from './cancel.ts'
import { downloadSentAttachment, downloadSentRefusals } from './download-attachment.ts'
import { emailRefusals, listEmails, readEmail, readEmailContent } from './emails.ts'
import {
  attachmentParamsSchema,
  emailContentSchema,
  emailDetailSchema,
  emailFilterParams,
  emailPageSchema,
  sendAcceptedSchema,
  sendEmailSchema,
} from './schema.ts'
import { defaultUnconfirmedMs, type UnconfirmedPolicy } from './unconfirmed.ts'

/** The routes of sent emails. */
export function emailRoutes(deps: SendDeps) {
  return api('emails')
    .post(
      '/v1/emails',
      async ({ caller, body, reservation, set }) => {
        set.status = 202
        return toJsonAccepted(await send({ sender: caller, fields: body, reservation }, deps))
      },
      {
        detail: describeRoute('sendEmail', 'Send an email', sendRefusals),
        scope: 'email:send',
        body: sendEmailSchema,
        response: { 202: sendAcceptedSchema },
      },
    )
    .get('/v1/emails', ({ caller, query }) => listEmails(deps.db, caller, query), {
      detail: describeRoute('listEmails', 'List sent emails', brandRefusals),
      scope: 'email:read',
      query: t.Object({
        limit: limitParamSchema,
        before: t.Optional(t.String({ description: 'For the next page: the `next_before` of the page before.' })),
        ...emailFilterParams,
      }),
      response: emailPageSchema,
    })
    .get('/v1/emails/:id', ({ caller, params }) => readEmail(deps.db, caller, params.id, unconfirmedPolicy(deps)), {
      detail: describeRoute('getEmail', 'Get a sent email and its events', emailRefusals),
      scope: 'email:read',
      params: idParamsSchema,
      response: emailDetailSchema,
    })
    .post(
      '/v1/emails/:id/cancel',
      ({ caller, params, reservation }) => cancelEmail(deps, caller, params.id, reservation),
      {
        detail: describeRoute('cancelEmail', 'Cancel a scheduled email', cancelEmailRefusals),
        scope: 'email:send',
        params: idParamsSchema,
        response: emailDetailSchema,
      },
    )
    .get('/v1/emails/:id/content', ({ caller, params }) => readEmailContent(deps, caller, params.id), {
      detail: describeRoute('getEmailContent', 'Get the content of a sent email', emailRefusals),
      scope: 'email:read',
      params: idParamsSchema,
      response: emailContentSchema,
    })
    .get(
      '/v1/emails/:id/attachments/:attachment_id',
      async ({ caller, params }) =>
        fileResponse(await downloadSentAttachment(deps, caller, params.id, params.attachment_id)),
      {
        detail: {
          ...describeRoute('getEmailAttachment', 'Get an attachment of a sent email', downloadSentRefusals),
          ...describeFile('application/octet-stream'),
        },
        scope: 'email:read',
        params: attachmentParamsSchema,
      },
    )
}

function unconfirmedPolicy({ clock, unconfirmedMs = defaultUnconfirmedMs }: SendDeps): UnconfirmedPolicy {
  return { now: clock.now(), afterMs: unconfirmedMs }
}
