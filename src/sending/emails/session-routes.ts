import { t } from 'elysia'
import { brandRefusals } from '../../accounts/brands/brands.ts'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { describeFile, fileResponse } from '../../api/file-response.ts'
import { scopeRefusals } from '../../api/route.ts'
import { requireMemberScope } from '../../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import type { Clock } from '../../base/clock.ts'
import { emailRefusals } from './emails.ts'
import { exportEmails } from './export.ts'
import { type EmailOriginDeps, emailOriginSchema, readEmailOrigin } from './origin.ts'
import { emailFilterParams } from './schema.ts'

/** What the dashboard needs of sent emails beside the routes of /v1. */
export function sentEmailRoutes(deps: EmailOriginDeps & { readonly clock: Clock }) {
  const { db, clock, unconfirmedMs } = deps
  return sessionApi('sent-emails')
    .get(
      '/app/api/sent.csv',
      async ({ member, query }) => {
        requireMemberScope(member, 'email:read')
        return fileResponse(await exportEmails(db, member, query, { now: clock.now(), afterMs: unconfirmedMs }))
      },
      {
        detail: {
          ...describeRoute('exportEmails', 'Export sent emails as CSV', [
            ...sessionRefusals,
            ...scopeRefusals,
            ...brandRefusals,
          ]),
          ...describeFile('text/csv; charset=utf-8'),
        },
        member: 'confirmed',
        query: t.Object(emailFilterParams),
      },
    )
    .get(
      '/app/api/sent/:id/origin',
      ({ member, params }) => {
        requireMemberScope(member, 'email:read')
        return readEmailOrigin(deps, member, params.id)
      },
      {
        detail: describeRoute('getEmailOrigin', 'Get the request and the key that made an email', [
          ...sessionRefusals,
          ...scopeRefusals,
          ...emailRefusals,
        ]),
        member: 'session',
        params: idParamsSchema,
        response: emailOriginSchema,
      },
    )
}
