import { t } from 'elysia'
import { sessionActor } from '../../accounts/audit/session-actor.ts'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { resumeBrandByOperator } from './pause.ts'

/** Letting paused brands send again, for operators. */
export function pausedBrandRoutes({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  return sessionApi('instance brands').post(
    '/app/api/instance/brands/:id/resume',
    async ({ params: { id }, session, context }) => {
      const operator = sessionActor(session, context, clock)
      const resumed = isId('brd', id) ? await resumeBrandByOperator(db, operator, id) : undefined
      if (resumed === undefined) throw refuse('not_found', { message: `There is no brand ${id}.` })
      return { id, resumed }
    },
    {
      operator: 'confirmed',
      params: idParamsSchema,
      response: t.Object({ id: t.String(), resumed: t.Boolean({ description: 'false: it was not paused.' }) }),
      detail: describeRoute('resumeBrand', 'Let a paused brand send again', ['not_found']),
    },
  )
}
