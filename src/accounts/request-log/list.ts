import { pageSize, readBefore } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type requestPageSchema, toJsonRequest } from './schema.ts'
import { selectRequests } from './table.ts'
import type { RequestLog } from './writer.ts'

export interface RequestLogDeps {
  readonly db: Db
  readonly requestLog: Pick<RequestLog, 'flush'>
}

/** The query parameters of the list of requests. */
export interface RequestQuery {
  readonly limit?: string
  readonly before?: string
  readonly status?: string
  readonly method?: string
}

/**
 * A page of the organization's requests, newest first, including all that this process has answered so far. A key that is
 * restricted to a brand sees the requests made with keys of that brand. @throws Refusal `invalid_cursor`
 */
export async function listRequests(
  deps: RequestLogDeps,
  { organizationId, brandId }: Tenant,
  { limit, before, status, method }: RequestQuery,
): Promise<typeof requestPageSchema.static> {
  const start = readBefore(before)
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
