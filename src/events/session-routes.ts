import { t } from 'elysia'
import { describeRoute } from '../api/describe.ts'
import { cursorRefusals, limitParamSchema } from '../api/page.ts'
import { scopeRefusals } from '../api/route.ts'
import { sessionApi, sessionRefusals } from '../api/session/session-route.ts'
import type { Db } from '../base/database/database.ts'
import { eventTypeRefusals } from './event-types.ts'
import { eventHistorySchema, readEventHistory } from './history.ts'

/** What the dashboard needs of events beside the feed. */
export function eventSessionRoutes({ db }: { readonly db: Db }) {
  return sessionApi('event-history').get(
    '/app/api/events',
    ({ member, query }) => readEventHistory(db, member, query),
    {
      detail: describeRoute('listEventHistory', 'List events, newest first', [
        ...sessionRefusals,
        ...scopeRefusals,
        ...eventTypeRefusals,
        ...cursorRefusals,
      ]),
      member: 'session',
      query: t.Object(
        { types: t.Optional(t.String()), cursor: t.Optional(t.String()), limit: limitParamSchema },
        { additionalProperties: false },
      ),
      response: eventHistorySchema,
    },
  )
}
