import { t } from 'elysia'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { toJsonAccepted } from '../accept/accepted-response.ts'
import type { SendDeps } from '../accept/open-sending.ts'
import { sendAcceptedSchema } from '../emails/schema.ts'
import { draftContentRefusals } from './content.ts'
import type { ReceivedMessages } from './deps.ts'
import {
  changeDraft,
  changeDraftRefusals,
  createDraft,
  draftRefusals,
  listDrafts,
  readDraft,
  removeDraft,
} from './drafts.ts'
import { draftChangeSchema, draftPageSchema, draftSchema, draftSendSchema, newDraftSchema } from './schema.ts'
import { sendDraft, sendDraftRefusals } from './send.ts'

const reading = { scope: 'drafts:read', organizationOnly: true } as const
const writing = { scope: 'drafts:write', organizationOnly: true } as const

/** The routes of drafts: text emails of the whole organization that are not sent yet. */
export function draftRoutes(sending: SendDeps, received: ReceivedMessages) {
  const deps = { db: sending.db, clock: sending.clock, received }
  return api('drafts')
    .get('/v1/drafts', ({ caller, query }) => listDrafts(deps, caller, query), {
      detail: describeRoute('listDrafts', 'List drafts'),
      scope: reading,
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }),
      response: draftPageSchema,
    })
    .post(
      '/v1/drafts',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createDraft(deps, caller, body, reservation)
      },
      {
        detail: describeRoute('createDraft', 'Create a draft', draftContentRefusals),
        scope: writing,
        body: newDraftSchema,
        response: { 201: draftSchema },
      },
    )
    .get('/v1/drafts/:id', ({ caller, params }) => readDraft(deps, caller, params.id), {
      detail: describeRoute('getDraft', 'Get a draft', draftRefusals),
      scope: reading,
      params: idParamsSchema,
      response: draftSchema,
    })
    .patch(
      '/v1/drafts/:id',
      ({ caller, params, body, reservation }) => changeDraft(deps, caller, params.id, body, reservation),
      {
        detail: describeRoute('updateDraft', 'Update a draft', [...changeDraftRefusals, ...draftContentRefusals]),
        scope: writing,
        params: idParamsSchema,
        body: draftChangeSchema,
        response: draftSchema,
      },
    )
    .delete('/v1/drafts/:id', ({ caller, params, reservation }) => removeDraft(deps, caller, params.id, reservation), {
      detail: describeRoute('deleteDraft', 'Delete a draft', draftRefusals),
      scope: writing,
      params: idParamsSchema,
      response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
    })
    .post(
      '/v1/drafts/:id/send',
      async ({ caller, params, body, reservation, set }) => {
        set.status = 202
        const options = { scheduledAt: body.scheduled_at, reservation }
        return toJsonAccepted(await sendDraft({ sending, received }, caller, params.id, options))
      },
      {
        detail: describeRoute('sendDraft', 'Send a draft', sendDraftRefusals),
        scope: { scope: ['drafts:write', 'email:send'], organizationOnly: true },
        params: idParamsSchema,
        body: draftSendSchema,
        response: { 202: sendAcceptedSchema },
      },
    )
}
