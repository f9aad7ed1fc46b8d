import type { SessionAuthenticator } from '../../../accounts/sessions/authenticate.ts'
import type { MembershipRequest } from '../../../accounts/sessions/member.ts'
import { showRefusalsAs } from '../../../api/pages/browser.ts'
import { type RequestContext, setRequestContext } from '../../../api/request-context.ts'
import {
  type Session,
  type SessionContext,
  type SessionMember,
  setSessionContext,
} from '../../../api/session/session.ts'
import { readSessionCookie } from '../../../api/session/session-cookie.ts'
import { requireFactor, requireSession } from '../../../api/session/session-route.ts'
import { clientNetwork } from '../../../base/client-network.ts'
import { refuse } from '../../../base/refusal.ts'
import type { ClientLimits } from '../../limits/client-limits.ts'
import type { PendingRequest } from '../pending-request.ts'
import { browserOrigin, isLocalRequest, requireSafeOrigin } from './browser-origin.ts'
import { wantsConfirmation } from './confirmed-operations.ts'
import { readCookie, setCookieHeader } from './cookies.ts'
import { requireSameOrigin } from './cross-site.ts'
import { framedRefusalPage } from './refusal-page.ts'

/** What the requests of people depend on. */
export interface SessionRequestDeps {
  readonly authenticator: SessionAuthenticator
  readonly clientLimits: Pick<ClientLimits, 'countDashboardRequest' | 'refuseDashboardRequest'>
  /** MAILROOM_PUBLIC_URL */
  readonly publicUrl: string | undefined
  readonly routeTemplate: (path: string) => string | undefined
}

/** What the request pipeline does for such a request. */
export interface SessionRequestPipeline {
  readonly reserveMemory: SessionContext['reserveMemory']
  /** The context of a route of the API, with the member as its caller. */
  readonly contextFor: (member: SessionMember, findMember: () => Promise<SessionMember>) => RequestContext
}

/**
 * Finds out who makes a request of the dashboard, and lets its route find that: a session, or below `/app/api/v1` the member
 * as the caller. Only the cookie counts.
 * @param ip the address of the client
 * @throws Refusal `session_required` (also for an API key), `https_required`, `cross_site_request`, `rate_limited`; below `/app/api/v1`
 * `factor_required`, `confirmation_required`, and those of {@link SessionContext.member}
 */
export type AdmitSession = (pending: PendingRequest, ip: string, pipeline: SessionRequestPipeline) => Promise<void>

export function openSessionRequests(deps: SessionRequestDeps): AdmitSession {
  const { authenticator, clientLimits, publicUrl, routeTemplate } = deps

  function requireWithinRate(pending: PendingRequest, session: Session | null, ip: string): void {
    const status = clientLimits.countDashboardRequest(session?.userId ?? clientNetwork(ip))
    pending.rateLimit = status
    const who = session ? 'A person' : 'A network from which nobody is signed in'
    if (!status.isAllowed) throw clientLimits.refuseDashboardRequest(status, who)
  }

  return async (pending, ip, { reserveMemory, contextFor }) => {
    const { request, target, routedRequest } = pending
    const { headers } = request
    if (target.isFramed) showRefusalsAs(framedRefusalPage, routedRequest)
    requireNoApiKey(headers)
    const { origin, isSecure } = browserOrigin(request, target.isTls, publicUrl)
    requireSafeOrigin({ origin, isSecure }, publicUrl)
    requireSameOrigin(request, origin)
    const browser = {
      ip,
      userAgent: headers.get('user-agent'),
      isSecure,
      origin,
      isLocalhost: isLocalRequest(request, ip, publicUrl),
      cookie: (name: string) => readCookie(headers.get('cookie'), name),
    }
    const session = await authenticator.authenticate(readSessionCookie(browser), browser)
    pending.session = session
    requireWithinRate(pending, session, ip)
    const named = membershipRequest(pending, ip)
    const context: SessionContext = {
      ...browser,
      namedOrganization: named.organization ?? null,
      requestId: pending.id,
      session,
      setCookie(name, value, maxAgeSeconds) {
        pending.cookies ??= []
        pending.cookies.push(setCookieHeader(name, value, maxAgeSeconds, isSecure))
      },
      reserveMemory,
      member: async () => authenticator.resolveMember(requireSession({ session }, 'session'), named),
    }
    if (target.audience === 'session') return setSessionContext(routedRequest, context)
    const isConfirmed = wantsConfirmation(request.method, routeTemplate(target.routedPath))
    requireFactor(requireSession(context, isConfirmed ? 'confirmed' : 'session'))
    const findMember = async () => {
      const found = await authenticator.authenticate(readSessionCookie(browser), browser)
      return authenticator.resolveMember(requireFactor(requireSession({ session: found }, 'session')), named)
    }
    setRequestContext(routedRequest, contextFor(await context.member(), findMember))
  }
}

function requireNoApiKey(headers: Headers): void {
  if (headers.has('authorization'))
    throw refuse('session_required', {
      message: 'The dashboard takes no API key: sign in, or send the request to the same path below /v1.',
    })
}

/** The organization and the brand are named in headers, or in the query of a link, which can send none. */
function membershipRequest(
  { request: { headers }, target: { linked } }: PendingRequest,
  ip: string,
): MembershipRequest {
  return {
    organization: headers.get('mailroom-organization') ?? linked?.organization,
    brand: headers.get('mailroom-brand') ?? linked?.brand,
    ip,
  }
}
