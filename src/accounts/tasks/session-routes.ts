import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { taskListSchema, taskSchema, toJsonTask } from './schema.ts'
import { selectTask, selectTasks } from './table.ts'

const shownTasks = 30

/** The long tasks of operators: what runs, and what came of those before. */
export function taskSessionRoutes({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  return sessionApi('instance tasks')
    .get(
      '/app/api/instance/tasks',
      async () => ({ data: (await selectTasks(db, shownTasks)).map(row => toJsonTask(row, clock.now())) }),
      {
        operator: 'session',
        response: taskListSchema,
        detail: describeRoute('listTasks', 'List the newest tasks of operators'),
      },
    )
    .get(
      '/app/api/instance/tasks/:id',
      async ({ params: { id } }) => {
        const row = isId('tsk', id) ? await selectTask(db, id) : undefined
        if (!row) throw refuse('not_found', { message: `There is no task ${id}.` })
        return toJsonTask(row, clock.now())
      },
      {
        operator: 'session',
        params: idParamsSchema,
        response: taskSchema,
        detail: describeRoute('getTask', 'Get a task with its progress', ['not_found']),
      },
    )
}
