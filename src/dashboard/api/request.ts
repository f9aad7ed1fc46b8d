import { send } from './send.ts'

/** What a request to the dashboard's own routes may carry. */
export interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: object
  /** Sent as the query string; what is undefined or null is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>
  /** The organization and the brand that it is for. */
  readonly organizationId?: string
  readonly brandId?: string | null
  readonly signal?: AbortSignal
}

/**
 * Sends a request to a route of the dashboard's own, such as `/app/api/session`, and gives its JSON (undefined: it has none).
 * @throws ApiError, ServerAwayError as {@link send}
 */
export async function requestJson<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  { body, query = {}, organizationId, brandId, signal }: RequestOptions = {},
): Promise<Answer> {
  const url = new URL(path, location.origin)
  for (const [name, value] of Object.entries(query)) if (value != null) url.searchParams.set(name, String(value))
  const headers = new Headers()
  if (organizationId) headers.set('Mailroom-Organization', organizationId)
  if (brandId) headers.set('Mailroom-Brand', brandId)
  if (body) headers.set('Content-Type', 'application/json')
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) }
  const response = await send(new Request(url, init))
  return response.status === 204 ? (undefined as Answer) : ((await response.json()) as Answer)
}
