import { clientNetwork } from '../../base/client-network.ts'
import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import type { Id } from '../../base/ids.ts'
import { openRateLimiter, type RateLimitStatus, rateLimited } from './rate-limiter.ts'

/** What clients may do in a minute, over all servers of a process: a client gains nothing by using two of them. */
export interface ClientLimits {
  /** Counts one request, or one submitted message, of an organization. */
  countRequest(organizationId: Id<'org'>): RateLimitStatus
  /** The refusal of a request that {@link countRequest} did not allow. */
  refuseRequest(status: RateLimitStatus): Error
  /** Counts a failed authentication from this address. @throws Refusal `rate_limited` past the limit */
  countFailure(address: string): void
}

export function openClientLimits(
  { ratePerMinute, authFailuresPerMinute }: Pick<Config, 'ratePerMinute' | 'authFailuresPerMinute'>,
  clock: Clock,
): ClientLimits {
  const byOrganization = openRateLimiter(ratePerMinute)
  const failuresByNetwork = openRateLimiter(authFailuresPerMinute)
  const nowMs = () => millisecondsOf(clock.now())
  return {
    countRequest: organizationId => byOrganization.consume(organizationId, nowMs()),
    refuseRequest: status =>
      rateLimited(`The organization may make ${status.limit} requests per minute.`, status, nowMs()),
    countFailure(address) {
      const status = failuresByNetwork.consume(clientNetwork(address), nowMs())
      if (!status.isAllowed)
        throw rateLimited('Too many requests from this address had no valid API key or link.', status, nowMs())
    },
  }
}
