import { t } from 'elysia'
import { dateTimeSchema, idParamsSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { sessionActor } from '../audit/session-actor.ts'
import { listOperators, removeOperator } from './operators.ts'

const operatorListSchema = t.Object({
  data: t.Array(
    t.Object(
      {
        id: t.String(),
        email: t.String(),
        name: t.String(),
        since: dateTimeSchema,
        last_sign_in_at: nullable(dateTimeSchema),
        is_you: t.Boolean(),
      },
      { title: 'InstanceOperator' },
    ),
  ),
})

/** The people who operate this instance. They are named with the operator's command alone. */
export function operatorSessionRoutes({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  return sessionApi('instance operators')
    .get(
      '/app/api/instance/operators',
      async ({ session }) => ({
        data: (await listOperators(db)).map(({ userId, email, name, since, lastSignInAt }) => ({
          ...{ id: userId, email, name, since: toIso(since) },
          last_sign_in_at: lastSignInAt && toIso(lastSignInAt),
          is_you: userId === session.userId,
        })),
      }),
      {
        operator: 'session',
        response: operatorListSchema,
        detail: describeRoute('listOperators', 'List the people who operate this instance'),
      },
    )
    .delete(
      '/app/api/instance/operators/:id',
      async ({ params: { id }, session, context }) => {
        const found = (await listOperators(db)).find(({ userId }) => userId === id)
        const removed = found && (await removeOperator(db, sessionActor(session, context, clock), found.email))
        if (removed === undefined) throw refuse('not_found', { message: `${id} is no operator.` })
        return {}
      },
      {
        operator: 'confirmed',
        params: idParamsSchema,
        response: t.Object({}),
        detail: describeRoute('removeOperator', 'Let a person no longer operate this instance', ['not_found']),
      },
    )
}
