import { pageSize, readInstant } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type requestPageSchema, toJsonRequest } from './schema.ts'
import { selectRequests } from './table.ts'
import type { RequestLog } from './writer.ts'

/** What the work on requests uses. */
export interface RequestLogDeps {
  readonly db: Db
  readonly requestLog: Pick<RequestLog, 'flush'>
}

/** Which requests a list shows, as the query says it. */
export interface RequestQuery {
  readonly limit?: string
  readonly before?: string
  readonly status?: string
  readonly method?: string
}

/**
 * A page of the organization's requests, newest first, with all that this process has answered; for a key that is
 * restricted to a brand, those made with keys of that brand. @throws Refusal `invalid_request` (before)
 */
export async function listRequests(
  deps: RequestLogDeps,
  { organizationId, brandId }: Tenant,
  { limit, before, status, method }: RequestQuery,
): Promise<typeof requestPageSchema.static> {
  const start = before === undefined ? null : readInstant(before, 'before')
  await deps.requestLog.flush()
  const { rows, nextBefore } = await selectRequests(
    deps.db,
    {
      organizationId,
      brandId,
      status: status === undefined ? null : Number(status),
      method: method?.toUpperCase() ?? null,
    },
    { before: start, limit: pageSize(limit) },
  )
  return { data: rows.map(toJsonRequest), next_before: nextBefore && toIso(nextBefore) }
}
