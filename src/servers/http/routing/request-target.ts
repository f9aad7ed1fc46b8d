import type { MembershipRequest } from '../../../accounts/sessions/member.ts'

/**
 * Who a path is for: clients with an API key (`/v1`), signed-in members on the same routes (`/app/api/v1`), visitors of the
 * dashboard's own routes (`/app/api`, and documents that a page shows in a frame), its files (`/app`), or everyone.
 */
export type Audience = 'key' | 'member' | 'session' | 'file' | 'public'

type LinkedTenant = Pick<MembershipRequest, 'organization' | 'brand'>

/** Where a request goes. */
export interface RequestTarget {
  /** With the URL that the routes know: http, no prefix of the dashboard, no parameters that name an organization. */
  readonly request: Request
  readonly audience: Audience
  /** As the client sent it. */
  readonly path: string
  /** As the client sent it, from `?` on; may be empty. */
  readonly query: string
  /** The path that the routes know. */
  readonly routedPath: string
  /** Did it come over TLS of our own? */
  readonly isTls: boolean
  /** Is it a document that the dashboard shows in a frame? */
  readonly isFramed: boolean
  /** What a link of the dashboard, which can send no header, names in its query; absent elsewhere. */
  readonly linked?: LinkedTenant
}

const dashboardPrefix = '/app/api'

/** Reads where a request goes from its URL, as Elysia finds the path in it. */
export function readTarget(received: Request): RequestTarget {
  const isTls = received.url.startsWith('https:')
  // The routes look for the path after `http://`; after a longer scheme they would not find it.
  const url = isTls ? `http:${received.url.slice('https:'.length)}` : received.url
  const start = url.indexOf('/', 'http://'.length)
  const queryAt = url.indexOf('?', start + 1)
  const path = url.substring(start, queryAt === -1 ? undefined : queryAt)
  const query = queryAt === -1 ? '' : url.substring(queryAt)
  const audience = audienceOf(path)
  if (audience === 'key' || audience === 'public' || audience === 'file')
    return {
      request: isTls ? new Request(url, received) : received,
      audience,
      path,
      query,
      routedPath: path,
      isTls,
      isFramed: false,
    }
  const routedPath = audience === 'member' ? path.slice(dashboardPrefix.length) : path
  const { linked, rest } = splitQuery(query)
  const routedUrl = url.slice(0, start) + routedPath + rest
  return {
    request: routedUrl === received.url ? received : new Request(routedUrl, received),
    audience,
    path,
    query,
    routedPath,
    isTls,
    isFramed: framedDocument.test(path),
    linked,
  }
}

/** Documents that the dashboard shows in a frame. */
const framedDocument = /^\/app\/(?:(?:message|sent-email)\/[^/]+|template\/preview)\/view$/

function audienceOf(path: string): Audience {
  if (path.startsWith('/v1/') || path === '/v1') return 'key'
  if (!path.startsWith('/app')) return 'public'
  // MCP takes API keys alone.
  if (path.startsWith(`${dashboardPrefix}/v1/`) && path !== `${dashboardPrefix}/v1/mcp`) return 'member'
  if (path.startsWith(`${dashboardPrefix}/`) || path === dashboardPrefix || framedDocument.test(path)) return 'session'
  return path === '/app' || path.startsWith('/app/') ? 'file' : 'public'
}

/** Takes the first `organization` and the first `brand` out of a query; the others are the route's to refuse. */
function splitQuery(query: string): { readonly linked: LinkedTenant; readonly rest: string } {
  const linked: { organization: string | undefined; brand: string | undefined } = {
    organization: undefined,
    brand: undefined,
  }
  const rest = query
    .slice(1)
    .split('&')
    .filter(parameter => {
      const [name, value = ''] = parameter.split('=', 2)
      if ((name !== 'organization' && name !== 'brand') || linked[name] !== undefined) return true
      linked[name] = value
      return false
    })
  const text = rest.join('&')
  return { linked, rest: text === '' ? '' : `?${text}` }
}
