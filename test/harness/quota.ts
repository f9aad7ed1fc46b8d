import { countAccepted, grantQuota, type QuotaRequest } from '../../src/accounts/organizations/quota.ts'
import type { Instant } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'

/** Counts what the quotas allow of these requests; gives which those are. */
export async function consumeQuota(
  db: Db,
  requests: readonly QuotaRequest[],
  at: Instant,
): Promise<readonly boolean[]> {
  const granted = await grantQuota(db, requests, at)
  await countAccepted(
    db,
    requests.filter((_, i) => granted[i]),
    at,
  )
  return granted
}
