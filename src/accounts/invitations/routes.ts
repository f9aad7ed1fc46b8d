import { Elysia, t } from 'elysia'
import { idParams, nullable } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { openBody } from '../../api/response-schema.ts'
import { api } from '../../api/route.ts'
import { brandIdsShape, memberName, memberShape, permissionsShape } from '../members/schema.ts'
import { changeInvitation, type InvitationsUse, invite, listInvitations, revokeInvitation } from './invitations.ts'
import { acceptInvitation, type LinksUse, readLink } from './links.ts'
import { invitationShape, linkedInvitationShape, madeInvitationShape } from './schema.ts'

const emailParam = t.Optional(t.String({ minLength: 1, maxLength: 320 }))

/** SPEC section 4, invitations. */
export function invitationRoutes(use: InvitationsUse) {
  return api('invitations')
    .get('/v1/invitations', ({ caller, query }) => listInvitations(use, caller, query), {
      detail: says('listInvitations', 'List open invitations', ['invalid_cursor', 'brand_restricted']),
      scope: { scope: 'members:read', organizationOnly: true },
      query: t.Object({ limit: limitParam, cursor: t.Optional(t.String()) }),
      response: t.Object({ data: t.Array(invitationShape), next_cursor: nullable(t.String()) }),
    })
    .post(
      '/v1/invitations',
      ({ caller, body, set }) => {
        set.status = 201
        return invite(use, caller, body)
      },
      {
        detail: says('createInvitation', 'Invite someone to brands', [
          'not_found',
          'brand_restricted',
          'idempotency_not_supported',
        ]),
        scope: { scope: 'members:write', organizationOnly: true, idempotency: 'refused' },
        body: t.Object({ email: emailParam, brand_ids: brandIdsShape, permissions: permissionsShape }),
        response: { 201: madeInvitationShape },
      },
    )
    .patch(
      '/v1/invitations/:id',
      ({ caller, params, body, reservation }) => changeInvitation(use, caller, params.id, body, reservation),
      {
        detail: says('updateInvitation', 'Change the brands or permissions of an open invitation', [
          'not_found',
          'brand_restricted',
          'invitation_closed',
        ]),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParams,
        body: t.Object({ brand_ids: t.Optional(brandIdsShape), permissions: t.Optional(permissionsShape) }),
        response: invitationShape,
      },
    )
    .delete(
      '/v1/invitations/:id',
      ({ caller, params, reservation }) => revokeInvitation(use, caller, params.id, reservation),
      {
        detail: says('revokeInvitation', 'Revoke an open invitation', [
          'not_found',
          'brand_restricted',
          'invitation_closed',
        ]),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParams,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}

const linkRefusals = ['not_found', 'invitation_closed', 'rate_limited'] as const
const maxAcceptBytes = 16 * 1024
const tokenParams = t.Object({ token: t.String({ minLength: 1, maxLength: 128 }) })
const acceptBody = t.Object({ email: emailParam, name: memberName })

/** What a link leads to: it needs no key, because the link is the secret. */
export function invitationLinkRoutes(use: LinksUse) {
  return new Elysia({ name: 'invitation-links', normalize: false })
    .get('/invitations/:token', ({ params }) => readLink(use, params.token), {
      detail: says('getInvitationLink', 'Read what a link invites to', linkRefusals),
      params: tokenParams,
      query: t.Object({}, { additionalProperties: false }),
      response: linkedInvitationShape,
    })
    .post(
      '/invitations/:token/accept',
      ({ params, body, set }) => {
        set.status = 201
        return acceptInvitation(use, params.token, body)
      },
      {
        ...openBody(acceptBody, maxAcceptBytes),
        detail: says('acceptInvitation', 'Accept an invitation', linkRefusals),
        params: tokenParams,
        query: t.Object({}, { additionalProperties: false }),
        response: { 201: memberShape },
      },
    )
}
