import type { AnyElysia } from 'elysia'
import type { Said } from './describe.ts'
import type { NeedInFull } from './route.ts'
import type { Schema } from './validation.ts'

/** An operation, as its route says it. */
export interface SaidOperation {
  readonly method: string
  /** `/v1/emails/:id` */
  readonly path: string
  /** null: outside /v1, where no key is needed. */
  readonly need: NeedInFull | null
  readonly said: Said
  readonly params: Schema | undefined
  readonly query: Schema | undefined
  readonly body: Schema | undefined
  /** By status; a single schema stands for 200; undefined: bytes. */
  readonly responses: Readonly<Record<string, Schema>> | undefined
}

/** An operation below /v1. */
export interface Operation extends SaidOperation {
  readonly need: NeedInFull
}

interface Hooks {
  readonly need?: NeedInFull
  readonly detail?: Said
  readonly params?: Schema
  readonly query?: Schema
  readonly body?: Schema
  readonly response?: Schema | Readonly<Record<string, Schema>>
}

/** All operations below /v1 of these routes, in the order in which they were given. */
export function operationsOf(app: AnyElysia): readonly Operation[] {
  return app.routes.flatMap(route => {
    const { need, detail } = route.hooks as Hooks
    if (!need) return []
    if (!detail?.operationId) throw new Error(`${route.method} ${route.path} does not say what it is`)
    return [{ ...shapesOf(route), need, said: detail }]
  })
}

/** Those that need no key and say what they are; pages for people do not. */
export function publicOperationsOf(app: AnyElysia): readonly SaidOperation[] {
  return app.routes.flatMap(route => {
    const { need, detail } = route.hooks as Hooks
    return need || !detail?.operationId ? [] : [{ ...shapesOf(route), need: null, said: detail }]
  })
}

function shapesOf({ method, path, hooks }: AnyElysia['routes'][number]): Omit<SaidOperation, 'need' | 'said'> {
  const { params, query, body, response } = hooks as Hooks
  return { method, path, params, query, body, responses: response && byStatus(response) }
}

function byStatus(response: Schema | Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const isByStatus = Object.keys(response).every(key => /^\d{3}$/.test(key))
  return isByStatus ? (response as Readonly<Record<string, Schema>>) : { 200: response as Schema }
}
