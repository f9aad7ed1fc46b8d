import { t } from 'elysia'
import { startedTaskSchema } from '../../accounts/tasks/schema.ts'
import type { OperatorTasks } from '../../accounts/tasks/tasks.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Instant, minuteMs, toIso } from '../../base/clock.ts'
import { cachedResult } from '../../base/concurrency/cached-result.ts'
import { version } from '../../base/version.ts'
import type { StorageForecast } from '../../retention/storage/forecast.ts'
import type { DoctorResult } from '../doctor/run-checks.ts'
import { isAlive } from '../processes/processes.ts'
import { type ProcessRow, selectProcesses } from '../processes/table.ts'
import type { Readiness } from '../readiness/readiness.ts'
import { type InstanceLampDeps, readInstanceLamps } from './lamps.ts'
import { instanceHealthSchema, instanceStatusSchema, toJsonDoctorRun } from './schema.ts'

export interface InstanceHealthDeps extends Omit<InstanceLampDeps, 'forecast'> {
  readonly readiness: Readiness
  readonly tasks: OperatorTasks
  readonly runDoctor: (isQuick: boolean) => Promise<readonly DoctorResult[]>
  readonly forecastStorage: () => Promise<StorageForecast>
}

const statusMaxAgeMs = 5000
const readinessMaxAgeMs = 3000
const forecastMaxAgeMs = minuteMs
const shownProcesses = 50

/** What is wrong in the instance, and what runs it, for operators. */
export function instanceHealthRoutes(deps: InstanceHealthDeps) {
  const { db, clock, doctorResults, tasks } = deps
  const forecast = cachedResult(forecastMaxAgeMs, deps.forecastStorage)
  const status = cachedResult(statusMaxAgeMs, () => readInstanceLamps({ ...deps, forecast }))
  const readiness = cachedResult(readinessMaxAgeMs, deps.readiness)
  return sessionApi('instance health')
    .get('/app/api/instance/status', async () => ({ data: [...(await status())] }), {
      operator: 'session',
      response: instanceStatusSchema,
      detail: describeRoute('getInstanceStatus', 'What is wrong in the instance'),
    })
    .get(
      '/app/api/instance/health',
      async () => {
        const [parts, processes] = await Promise.all([readiness(), selectProcesses(db, shownProcesses)])
        const run = doctorResults.current()
        const now = clock.now()
        return {
          version,
          doctor: run && toJsonDoctorRun(run),
          parts: Object.entries(parts).map(([part, state]) => ({ part, ...state })),
          processes: processes.map(row => toJsonProcess(row, now)),
        }
      },
      {
        operator: 'session',
        response: instanceHealthSchema,
        detail: describeRoute('getInstanceHealth', "Doctor's findings, what /ready answers, and the processes"),
      },
    )
    .post(
      '/app/api/instance/health/doctor',
      async ({ body, session }) => {
        const isQuick = !(body.full ?? false)
        return {
          task_id: await tasks.start({
            ...{ kind: 'doctor', subject: isQuick ? 'quick' : 'full', actor: session.email },
            async run() {
              const run = { at: clock.now(), isQuick, results: await deps.runDoctor(isQuick) }
              doctorResults.record(run)
              return toJsonDoctorRun(run)
            },
          }),
        }
      },
      {
        operator: 'session',
        body: t.Object({ full: t.Optional(t.Boolean({ description: 'All checks, also those over the network.' })) }),
        response: startedTaskSchema,
        detail: describeRoute('runDoctor', 'Begin to run doctor, which changes nothing', ['task_running']),
      },
    )
}

function toJsonProcess(row: ProcessRow, now: Instant) {
  const { id, host, pid, version, roles, started_at, seen_at, breaker_opened_at, breaker_reply } = row
  return {
    ...{ id, host, pid, version, roles: roles.split(','), started_at: toIso(started_at), seen_at: toIso(seen_at) },
    is_alive: isAlive(row, now),
    breaker: breaker_opened_at && { opened_at: toIso(breaker_opened_at), reply: breaker_reply ?? '' },
  }
}
