import type { RefusalCode } from '../base/refusal.ts'

/** What the OpenAPI document says of an operation besides its schemas and its scope: the `detail` of its route. */
export interface OperationDescription {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly 'x-refusals': readonly RefusalCode[]
  /** A browser, which asks for HTML, is led to the dashboard (303), and gets each error as a page. */
  readonly 'x-html'?: boolean
  /** Responses that are not JSON, by status. */
  readonly responses?: Readonly<Record<string, ResponseDescription>>
}

/** An OpenAPI Response Object. */
export interface ResponseDescription {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, object>>
}

/**
 * The `detail` of a route.
 * @param refusals the error codes of this operation, beyond those that every operation may give
 */
export function describeRoute(
  operationId: string,
  summary: string,
  refusals: readonly RefusalCode[] = [],
  description?: string,
): OperationDescription {
  return { operationId, summary, 'x-refusals': refusals, ...(description === undefined ? {} : { description }) }
}
