import { t } from 'elysia'
import { idParams } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { showAccepted } from '../accept/accepted.ts'
import { sendAcceptedShape } from '../emails/schema.ts'
import type { Sending } from '../send.ts'
import type { Received } from './deps.ts'
import { changeDraft, createDraft, listDrafts, readDraft, removeDraft } from './drafts.ts'
import { draftChangeShape, draftPageShape, draftShape, newDraftShape } from './schema.ts'
import { sendDraft } from './send.ts'

const reading = { scope: 'drafts:read', organizationOnly: true } as const
const writing = { scope: 'drafts:write', organizationOnly: true } as const

/** SPEC section 4: drafts of text messages, of the whole organization. */
export function draftRoutes(sending: Sending, received: Received) {
  const use = { db: sending.db, clock: sending.clock, received }
  return api('drafts')
    .get('/v1/drafts', ({ caller, query }) => listDrafts(use, caller, query), {
      detail: says('listDrafts', 'List drafts', ['invalid_cursor']),
      scope: reading,
      query: t.Object({ limit: limitParam, cursor: t.Optional(t.String()) }),
      response: draftPageShape,
    })
    .post(
      '/v1/drafts',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createDraft(use, caller, body, reservation)
      },
      {
        detail: says('createDraft', 'Create a draft', ['not_found']),
        scope: writing,
        body: newDraftShape,
        response: { 201: draftShape },
      },
    )
    .get('/v1/drafts/:id', ({ caller, params }) => readDraft(use, caller, params.id), {
      detail: says('getDraft', 'Read a draft', ['not_found']),
      scope: reading,
      params: idParams,
      response: draftShape,
    })
    .patch(
      '/v1/drafts/:id',
      ({ caller, params, body, reservation }) => changeDraft(use, caller, params.id, body, reservation),
      {
        detail: says('updateDraft', 'Update a draft', ['not_found']),
        scope: writing,
        params: idParams,
        body: draftChangeShape,
        response: draftShape,
      },
    )
    .delete('/v1/drafts/:id', ({ caller, params, reservation }) => removeDraft(use, caller, params.id, reservation), {
      detail: says('deleteDraft', 'Delete a draft', ['not_found']),
      scope: writing,
      params: idParams,
      response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
    })
    .post(
      '/v1/drafts/:id/send',
      async ({ caller, params, reservation, set }) => {
        set.status = 202
        return showAccepted(await sendDraft({ sending, received }, caller, params.id, reservation))
      },
      {
        detail: says('sendDraft', 'Send a draft', [
          'not_found',
          'draft_incomplete',
          'from_not_allowed',
          'domain_not_verified',
          'too_many_recipients',
          'recipient_suppressed',
          'quota_exceeded',
        ]),
        scope: { scope: ['drafts:write', 'email:send'], organizationOnly: true },
        params: idParams,
        response: { 202: sendAcceptedShape },
      },
    )
}
