import { refuse } from '../../../base/refusal.ts'

/**
 * Refuses a request that changes something and was not made by a page of ours. Browsers say who made a request in
 * Sec-Fetch-Site, older ones in Origin alone; a page cannot change either.
 * @param origin the origin of our pages
 * @throws Refusal `cross_site_request`
 */
export function requireSameOrigin({ method, headers }: Pick<Request, 'method' | 'headers'>, origin: string): void {
  if (method === 'GET' || method === 'HEAD') return
  const site = headers.get('sec-fetch-site')
  if (site === null ? headers.get('origin') === origin : site === 'same-origin') return
  throw refuse('cross_site_request', {
    message: `This request must come from a page of ${origin}; send Sec-Fetch-Site: same-origin, or that as Origin.`,
  })
}
