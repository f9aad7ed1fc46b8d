import { describeRoute } from '../../api/describe.ts'
import { memberScopeRefusals, requireMemberScope } from '../../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import type { Db } from '../../base/database/database.ts'
import { readWebhookProgress, webhookProgressSchema } from './progress.ts'

/** What the dashboard needs of webhooks beside the routes of /v1. */
export function webhookSessionRoutes({ db }: { readonly db: Db }) {
  return sessionApi('webhook-progress').get(
    '/app/api/webhooks/progress',
    async ({ member }) => {
      requireMemberScope(member, 'webhooks:read')
      return { data: await readWebhookProgress(db, member) }
    },
    {
      detail: describeRoute('listWebhookProgress', 'How far the webhooks have come', [
        ...sessionRefusals,
        ...memberScopeRefusals,
      ]),
      member: 'session',
      response: webhookProgressSchema,
    },
  )
}
