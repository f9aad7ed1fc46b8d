import type { AnyElysia } from 'elysia'
import type { OperationDescription } from './describe.ts'
import type { OperationRequirements } from './route.ts'
import type { TypeBoxSchema } from './validation.ts'

/** An operation of the HTTP API, as its route declares it. */
export interface OperationSpec {
  readonly method: string
  /** `/v1/emails/:id` */
  readonly path: string
  /** null: outside /v1, where no API key is needed. */
  readonly requirements: OperationRequirements | null
  readonly description: OperationDescription
  readonly params: TypeBoxSchema | undefined
  readonly query: TypeBoxSchema | undefined
  readonly body: TypeBoxSchema | undefined
  /** By status; a single schema stands for 200; undefined: bytes. */
  readonly responses: Readonly<Record<string, TypeBoxSchema>> | undefined
}

/** An operation under /v1. */
export interface Operation extends OperationSpec {
  readonly requirements: OperationRequirements
}

interface OperationHooks {
  readonly requirements?: OperationRequirements
  readonly isOfDashboard?: true
  readonly detail?: OperationDescription
  readonly params?: TypeBoxSchema
  readonly query?: TypeBoxSchema
  readonly body?: TypeBoxSchema
  readonly response?: TypeBoxSchema | Readonly<Record<string, TypeBoxSchema>>
}

/** All operations under /v1 of these routes, in the order of the routes. @throws where a route has no `detail` */
export function operationsOf(app: AnyElysia): readonly Operation[] {
  return app.routes.flatMap(route => {
    const { requirements, detail } = route.hooks as OperationHooks
    if (!requirements) return []
    if (!detail?.operationId) throw new Error(`${route.method} ${route.path} has no detail with an operationId`)
    return [{ ...schemasOf(route), requirements, description: detail }]
  })
}

/** The described operations that need no API key. Web pages have no description. */
export function publicOperationsOf(app: AnyElysia): readonly OperationSpec[] {
  return keylessOperationsOf(app, hooks => !hooks.requirements && !hooks.isOfDashboard)
}

/** The described operations of the dashboard's own routes, below `/app/api`. */
export function dashboardOperationsOf(app: AnyElysia): readonly OperationSpec[] {
  return keylessOperationsOf(app, hooks => hooks.isOfDashboard === true)
}

function keylessOperationsOf(app: AnyElysia, isOne: (hooks: OperationHooks) => boolean): readonly OperationSpec[] {
  return app.routes.flatMap(route => {
    const hooks = route.hooks as OperationHooks
    return isOne(hooks) && hooks.detail?.operationId
      ? [{ ...schemasOf(route), requirements: null, description: hooks.detail }]
      : []
  })
}

function schemasOf({
  method,
  path,
  hooks,
}: AnyElysia['routes'][number]): Omit<OperationSpec, 'requirements' | 'description'> {
  const { params, query, body, response } = hooks as OperationHooks
  return { method, path, params, query, body, responses: response && byStatus(response) }
}

function byStatus(
  response: TypeBoxSchema | Readonly<Record<string, TypeBoxSchema>>,
): Readonly<Record<string, TypeBoxSchema>> {
  const isByStatus = Object.keys(response).every(key => /^\d{3}$/.test(key))
  return isByStatus ? (response as Readonly<Record<string, TypeBoxSchema>>) : { 200: response as TypeBoxSchema }
}
