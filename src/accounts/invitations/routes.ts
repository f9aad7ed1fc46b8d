import { Elysia, t } from 'elysia'
import { idParamsSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { comesFromBrowser, showRefusalsAs } from '../../api/pages/browser.ts'
import { publicBody } from '../../api/public-body.ts'
import { api } from '../../api/route.ts'
import {
  accessChangeSchema,
  brandIdsSchema,
  memberNameSchema,
  memberSchema,
  permissionsSchema,
} from '../members/schema.ts'
import {
  changeInvitation,
  changeInvitationRefusals,
  createInvitation,
  createInvitationRefusals,
  getInvitation,
  type InvitationDeps,
  listInvitations,
  openInvitationRefusals,
  revokeInvitation,
} from './invitations.ts'
import { acceptInvitation, getInvitationLink, type InvitationLinkDeps, invitationLinkRefusals } from './links.ts'
import { refusedInvitationPage, toDashboard } from './pages.ts'
import { createdInvitationSchema, invitationLinkSchema, invitationSchema } from './schema.ts'

const emailParam = t.Optional(t.String({ minLength: 1, maxLength: 320 }))

/** The operations on invitations. */
export function invitationRoutes(deps: InvitationDeps) {
  return api('invitations')
    .get('/v1/invitations', ({ caller, query }) => listInvitations(deps, caller, query), {
      detail: describeRoute('listInvitations', 'List open invitations'),
      scope: { scope: 'members:read', organizationOnly: true },
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }),
      response: t.Object({ data: t.Array(invitationSchema), next_cursor: nullable(t.String()) }),
    })
    .post(
      '/v1/invitations',
      ({ caller, body, set }) => {
        set.status = 201
        return createInvitation(deps, caller, body)
      },
      {
        detail: describeRoute('createInvitation', 'Invite someone to brands', createInvitationRefusals),
        scope: { scope: 'members:write', organizationOnly: true, idempotency: 'refused' },
        body: t.Object({ email: emailParam, brand_ids: brandIdsSchema, permissions: permissionsSchema }),
        response: { 201: createdInvitationSchema },
      },
    )
    .get('/v1/invitations/:id', ({ caller, params }) => getInvitation(deps, caller, params.id), {
      detail: describeRoute('getInvitation', 'Get an open invitation', openInvitationRefusals),
      scope: { scope: 'members:read', organizationOnly: true },
      params: idParamsSchema,
      response: invitationSchema,
    })
    .patch(
      '/v1/invitations/:id',
      ({ caller, params, body, reservation }) => changeInvitation(deps, caller, params.id, body, reservation),
      {
        detail: describeRoute(
          'updateInvitation',
          'Change the brands or permissions of an open invitation',
          changeInvitationRefusals,
        ),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParamsSchema,
        body: accessChangeSchema,
        response: invitationSchema,
      },
    )
    .delete(
      '/v1/invitations/:id',
      ({ caller, params, reservation }) => revokeInvitation(deps, caller, params.id, reservation),
      {
        detail: describeRoute('revokeInvitation', 'Revoke an open invitation', openInvitationRefusals),
        scope: { scope: 'members:write', organizationOnly: true },
        params: idParamsSchema,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
}

const maxAcceptBytes = 16 * 1024
const tokenParams = t.Object({ token: t.String({ minLength: 1, maxLength: 128 }) })
const acceptBody = t.Object({ email: emailParam, name: memberNameSchema })

/**
 * The operations behind an invitation's link, for programs; a browser that follows it is led to the dashboard. They need no
 * API key: the link is the secret.
 */
export function invitationLinkRoutes(deps: InvitationLinkDeps) {
  return new Elysia({ name: 'invitation-links', normalize: false })
    .get('/invitations/:token', ({ params }) => getInvitationLink(deps, params.token), {
      detail: {
        ...describeRoute('getInvitationLink', 'Get what an invitation link grants', invitationLinkRefusals),
        'x-html': true,
      },
      transform: ({ request }) => showRefusalsAs(refusedInvitationPage, request),
      mapResponse: ({ params, request }) => (comesFromBrowser(request) ? toDashboard(params.token) : undefined),
      params: tokenParams,
      query: t.Object({}, { additionalProperties: false }),
      response: invitationLinkSchema,
    })
    .post(
      '/invitations/:token/accept',
      ({ params, body, set }) => {
        set.status = 201
        return acceptInvitation(deps, params.token, body)
      },
      {
        ...publicBody(acceptBody, maxAcceptBytes),
        detail: describeRoute('acceptInvitation', 'Accept an invitation', invitationLinkRefusals),
        params: tokenParams,
        query: t.Object({}, { additionalProperties: false }),
        response: { 201: memberSchema },
      },
    )
}
