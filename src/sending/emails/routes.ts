import { t } from 'elysia'
import { idParams } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { showAccepted } from '../accept/accepted.ts'
import { type Sending, send } from '../send.ts'
import { cancelEmail } from './cancel.ts'
import { listEmails, readContent, readEmail } from './emails.ts'
import {
  emailContentShape,
  emailDetailShape,
  emailPageShape,
  sendAcceptedShape,
  sendEmailShape,
  statusFilter,
} from './schema.ts'
import { defaultSilenceMs, type Silence } from './unconfirmed.ts'

/** SPEC section 4, Email. */
export function emailRoutes(use: Sending) {
  return api('emails')
    .post(
      '/v1/emails',
      async ({ caller, body, reservation, set }) => {
        set.status = 202
        return showAccepted(await send({ sender: caller, fields: body, reservation }, use))
      },
      {
        detail: says('sendEmail', 'Send an email', [
          'from_not_allowed',
          'attachments_too_large',
          'domain_not_verified',
          'too_many_recipients',
          'too_many_attachments',
          'no_content',
          'recipient_suppressed',
          'template_not_found',
          'template_variable_missing',
          'template_invalid',
          'quota_exceeded',
        ]),
        scope: 'email:send',
        body: sendEmailShape,
        response: { 202: sendAcceptedShape },
      },
    )
    .get('/v1/emails', ({ caller, query }) => listEmails(use.db, caller, query), {
      detail: says('listEmails', 'List sent emails', ['not_found', 'brand_restricted']),
      scope: 'email:read',
      query: t.Object({
        limit: limitParam,
        before: t.Optional(t.String({ description: 'The page after: the `next_before` of the page before.' })),
        status: t.Optional(statusFilter),
        brand_id: t.Optional(t.String()),
        tag: t.Optional(t.String({ maxLength: 400, description: 'With this tag: `name:value`.' })),
        recipient: t.Optional(t.String({ maxLength: 320, description: 'With this recipient.' })),
      }),
      response: emailPageShape,
    })
    .get('/v1/emails/:id', ({ caller, params }) => readEmail(use.db, caller, params.id, silenceAt(use)), {
      detail: says('getEmail', 'Read a sent email and its events', ['not_found', 'brand_restricted']),
      scope: 'email:read',
      params: idParams,
      response: emailDetailShape,
    })
    .post(
      '/v1/emails/:id/cancel',
      ({ caller, params, reservation }) => cancelEmail(use, caller, params.id, reservation),
      {
        detail: says('cancelEmail', 'Cancel a scheduled email', ['not_found', 'brand_restricted', 'not_scheduled']),
        scope: 'email:send',
        params: idParams,
        response: emailDetailShape,
      },
    )
    .get('/v1/emails/:id/content', ({ caller, params }) => readContent(use, caller, params.id), {
      detail: says('getEmailContent', 'Read what a sent email held', ['not_found', 'brand_restricted']),
      scope: 'email:read',
      params: idParams,
      response: emailContentShape,
    })
}

function silenceAt({ clock, unconfirmedMs = defaultSilenceMs }: Sending): Silence {
  return { now: clock.now(), afterMs: unconfirmedMs }
}
