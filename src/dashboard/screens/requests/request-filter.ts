/** Methods that the API has; SMTP: a program submitted an email. */
export const methods = ['GET', 'POST', 'PATCH', 'DELETE', 'SMTP'] as const

/** Statuses that the API gives. */
export const statuses = [200, 201, 202, 400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500] as const

/** Which requests are listed; what is absent matches all. */
export interface RequestFilter {
  readonly method?: (typeof methods)[number] | undefined
  readonly status?: (typeof statuses)[number] | undefined
}

/** What of the URL is a filter. */
export function readRequestFilter(search: Readonly<Record<string, unknown>>): RequestFilter {
  const method = methods.find(known => known === search['method'])
  const status = statuses.find(known => known === Number(search['status']))
  return { ...(method && { method }), ...(status && { status }) }
}
