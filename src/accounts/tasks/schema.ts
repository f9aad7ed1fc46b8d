import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { TaskRow } from './table.ts'
import { type TaskKind, taskKinds } from './tasks.ts'

const taskStates = ['running', 'done', 'failed', 'lost'] as const

export const taskSchema = t.Object(
  {
    id: t.String(),
    kind: oneOf(taskKinds),
    subject: t.String(),
    actor: t.String(),
    state: oneOf(taskStates, { description: '`lost`: the process that ran it is gone.' }),
    started_at: dateTimeSchema,
    finished_at: nullable(dateTimeSchema),
    progress: nullable(t.Object({ what: t.String(), count: t.Integer(), of: nullable(t.Integer()) })),
    result: nullable(t.Unknown({ description: 'Of the kind of the task.' })),
    error: nullable(t.String()),
  },
  { title: 'Task' },
)

export const taskListSchema = t.Object({ data: t.Array(taskSchema) })

/** The response of what starts a task. */
export const startedTaskSchema = t.Object({ task_id: t.String() })

export function toJsonTask(row: TaskRow, now: Instant): typeof taskSchema.static {
  const { id, kind, subject, actor, started_at, finished_at, progress, result, error } = row
  return {
    ...{ id, kind: kind as TaskKind, subject, actor, state: stateOf(row, now) },
    started_at: toIso(started_at),
    finished_at: finished_at && toIso(finished_at),
    progress: progress === null ? null : fromJson(progress),
    result: result === null ? null : fromJson(result),
    error,
  }
}

function stateOf({ finished_at, error, alive_until }: TaskRow, now: Instant): (typeof taskStates)[number] {
  if (finished_at !== null) return error === null ? 'done' : 'failed'
  return alive_until < now ? 'lost' : 'running'
}
