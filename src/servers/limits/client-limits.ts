import { clientNetwork } from '../../base/client-network.ts'
import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Id } from '../../base/ids.ts'
import { type CountExchange, openRateLimiter, type RateLimitStatus, rateLimited } from './rate-limiter.ts'

/**
 * What clients may do in a minute, over all servers of a process, and requests over all processes on the same ports: a client
 * gains nothing by using two of them.
 */
export interface ClientLimits {
  /** Counts one request, or one submitted message, of an organization. */
  countRequest(organizationId: Id<'org'>): RateLimitStatus
  /** The refusal of a request that {@link countRequest} did not allow. */
  refuseRequest(status: RateLimitStatus): Error
  /** Counts one request of the dashboard: of the person, or of the network where nobody is signed in. */
  countDashboardRequest(userIdOrNetwork: string): RateLimitStatus
  /** The refusal of a request that {@link countDashboardRequest} did not allow; `who` is in its message. */
  refuseDashboardRequest(status: RateLimitStatus, who: string): Error
  /** Counts a failed authentication from this address. @throws Refusal `rate_limited` past the limit */
  countFailure(address: string): void
}

export function openClientLimits(
  { ratePerMinute, authFailuresPerMinute }: Pick<Config, 'ratePerMinute' | 'authFailuresPerMinute'>,
  clock: Clock,
  exchange?: CountExchange,
): ClientLimits {
  // Organizations, people and networks: their ids are never the same.
  const requests = openRateLimiter(ratePerMinute, exchange)
  const failuresByNetwork = openRateLimiter(authFailuresPerMinute)
  const nowMs = () => millisecondsOf(clock.now())
  return {
    countRequest: organizationId => requests.consume(organizationId, nowMs()),
    refuseRequest: status =>
      rateLimited(`The organization may make ${status.limit} requests per minute.`, status, nowMs()),
    countDashboardRequest: userIdOrNetwork => requests.consume(userIdOrNetwork, nowMs()),
    refuseDashboardRequest: (status, who) =>
      rateLimited(`${who} may make ${status.limit} requests per minute.`, status, nowMs()),
    countFailure(address) {
      const status = failuresByNetwork.consume(clientNetwork(address), nowMs())
      if (!status.isAllowed)
        throw rateLimited('Too many requests from this address had no valid API key or link.', status, nowMs())
    },
  }
}
