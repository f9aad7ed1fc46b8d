import { t } from 'elysia'
import { sessionActor } from '../accounts/audit/session-actor.ts'
import { listOrganizations } from '../accounts/organizations/organizations.ts'
import { startedTaskSchema } from '../accounts/tasks/schema.ts'
import type { OperatorTasks } from '../accounts/tasks/tasks.ts'
import { describeRoute } from '../api/describe.ts'
import { ifUpdatedAtRefusals } from '../api/if-updated-at.ts'
import { sessionApi } from '../api/session/session-route.ts'
import { hourMs, toIso } from '../base/clock.ts'
import { cachedResult } from '../base/concurrency/cached-result.ts'
import type { Config } from '../base/config/config.ts'
import { isId } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import { planRetention } from './plan.ts'
import { changeRetentionPolicy } from './policies/change-policy.ts'
import { minimumDays, retentionKindNames, retentionKinds } from './policies/kinds.ts'
import { loadRetentionPolicies, type RetentionChange } from './policies/policies.ts'
import type { RetentionDeps } from './retention.ts'
import { runRetentionNow } from './run-now.ts'
import {
  policyChangeSchema,
  policyListSchema,
  readCondition,
  storageSchema,
  toJsonForecast,
  toJsonPlan,
  toJsonSetAt,
} from './schema.ts'
import { forecastStorage } from './storage/forecast.ts'
import { sumByKind } from './storage/kinds.ts'
import { selectOrganizationBytes, selectTableSizes } from './storage/table.ts'

export interface StorageRoutesDeps extends RetentionDeps {
  readonly config: Pick<Config, 'varFolder' | 'databaseUrl'>
  readonly tasks: OperatorTasks
}

const storageMaxAgeMs = 30_000
/** Counting the content of organizations reads every row of it. */
const organizationsMaxAgeMs = hourMs
const shownOrganizations = 50

/** What is stored, how long it is kept, and what is deleted when, for operators. */
export function storageSessionRoutes(deps: StorageRoutesDeps) {
  const { db, clock, settings, tasks } = deps
  const byOrganization = cachedResult(organizationsMaxAgeMs, () => selectOrganizationBytes(db, shownOrganizations))
  const storage = cachedResult(storageMaxAgeMs, async () => {
    const [forecast, tables, names, content] = await Promise.all([
      forecastStorage(deps),
      selectTableSizes(db),
      organizationNames(deps),
      byOrganization().catch(() => null),
    ])
    return {
      forecast: toJsonForecast(forecast),
      kinds: [...sumByKind(tables)],
      organizations:
        content?.map(({ organizationId, ...rest }) => ({
          organization_id: organizationId,
          name: names.get(organizationId) ?? organizationId,
          ...rest,
        })) ?? null,
      measured_at: toIso(clock.now()),
    }
  })
  return sessionApi('instance storage')
    .get('/app/api/instance/storage', () => storage(), {
      operator: 'session',
      response: storageSchema,
      detail: describeRoute('getStorage', 'Get the disks, when they are full, and what fills them'),
    })
    .get(
      '/app/api/instance/storage/retention',
      async () => {
        const [{ rows }, names] = await Promise.all([loadRetentionPolicies(db, settings), organizationNames(deps)])
        return {
          data: rows.map(row => {
            const { scope, kind, days } = row
            return { scope, name: names.get(scope) ?? null, kind, days, updated_at: toJsonSetAt(row) }
          }),
          kinds: retentionKindNames.map(kind => ({
            kind,
            description: retentionKinds[kind],
            minimum_days: minimumDays(kind, settings),
          })),
        }
      },
      {
        operator: 'session',
        response: policyListSchema,
        detail: describeRoute('listInstanceRetention', 'List how long everything is kept'),
      },
    )
    .post(
      '/app/api/instance/storage/retention',
      async ({ body, session, context }) => {
        const change = readChange(body, deps)
        if (!(await changeRetentionPolicy(db, sessionActor(session, context, clock), change, readCondition(body))))
          throw refuse('not_found', { message: `There is no organization or brand ${body.scope}.`, param: 'scope' })
        return {}
      },
      {
        operator: 'confirmed',
        body: policyChangeSchema,
        response: t.Object({}),
        detail: describeRoute('setInstanceRetention', 'Set how long a kind is kept', [
          'not_found',
          ...ifUpdatedAtRefusals,
        ]),
      },
    )
    .post(
      '/app/api/instance/storage/plan',
      async ({ session }) => ({
        task_id: await tasks.start({
          ...{ kind: 'retention_plan', subject: '', actor: session.email },
          run: async ({ report }) => toJsonPlan(await planRetention(deps, items => report('items checked', items))),
        }),
      }),
      {
        operator: 'session',
        response: startedTaskSchema,
        detail: describeRoute('planInstanceRetention', 'Begin to count what will be deleted, now and within 30 days', [
          'task_running',
        ]),
      },
    )
    .post(
      '/app/api/instance/storage/run',
      async ({ session, context }) => ({
        task_id: await tasks.start({
          ...{ kind: 'retention_run', subject: '', actor: session.email },
          run: async ({ report, signal }) => ({
            removed: await runRetentionNow(deps, {
              operator: sessionActor(session, context, clock),
              onProgress: items => report('items deleted', items),
              signal,
            }),
          }),
        }),
      }),
      {
        operator: 'confirmed',
        response: startedTaskSchema,
        detail: describeRoute('runInstanceRetention', 'Begin to delete what has passed its retention time', [
          'task_running',
        ]),
      },
    )
}

async function organizationNames({ db }: Pick<StorageRoutesDeps, 'db'>): Promise<ReadonlyMap<string, string>> {
  return new Map((await listOrganizations(db)).map(({ id, name }) => [id, name]))
}

/** @throws Refusal `invalid_request`, `not_found` */
function readChange(
  { scope, kind, keep, days }: typeof policyChangeSchema.static,
  { settings }: StorageRoutesDeps,
): RetentionChange {
  if (scope !== 'instance' && !isId('org', scope) && !isId('brd', scope))
    throw refuse('not_found', { message: `There is no organization or brand ${scope}.`, param: 'scope' })
  if (keep !== 'days') return { scope, kind, days: keep === 'forever' ? null : keep }
  const minimum = minimumDays(kind, settings)
  if (days === undefined || days < minimum)
    throw refuse('invalid_request', {
      message: `\`days\` is ${days ?? 'absent'}; ${kind} can be kept forever or for at least ${minimum} days.`,
      param: 'days',
    })
  return { scope, kind, days }
}
