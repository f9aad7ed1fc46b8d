import type { RefusalCode } from '../base/refusal.ts'

/** What the API's description says of an operation besides its shapes and its scope. */
export interface OperationDescription {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly 'x-refusals': readonly RefusalCode[]
  /** The answers whose shape is no JSON, by status, as OpenAPI has them. */
  readonly responses?: Readonly<Record<string, ResponseDescription>>
}

/** An OpenAPI Response Object. */
export interface ResponseDescription {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, object>>
}

/**
 * For a route's `detail`.
 * @param refusals the codes that this operation may end with beyond those of every operation (of the edge and its schema)
 */
export function describeRoute(
  operationId: string,
  summary: string,
  refusals: readonly RefusalCode[] = [],
  description?: string,
): OperationDescription {
  return { operationId, summary, 'x-refusals': refusals, ...(description === undefined ? {} : { description }) }
}
