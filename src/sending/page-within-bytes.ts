import { encodeCursor } from '../api/page.ts'
import type { Id, IdPrefix } from '../base/ids.ts'

/** A page of large rows ends early when they fill this much; its cursor still says where to go on. */
const maxPageBytes = 8 * 1024 * 1024

/** A row of a list, and its size in a response. */
interface SizedRow<Prefix extends IdPrefix> {
  readonly id: Id<Prefix>
  readonly bytes: number
}

/**
 * Which of `found` fit on one page of at most `limit`: at least one, and the cursor of the next page, null at the end.
 * @param found in the list's order, one more than `limit` where there are more
 */
export function pageWithinBytes<Prefix extends IdPrefix>(
  found: readonly SizedRow<Prefix>[],
  limit: number,
): { readonly ids: readonly Id<Prefix>[]; readonly nextCursor: string | null } {
  const ids: Id<Prefix>[] = []
  let bytes = 0
  for (const row of found.slice(0, limit)) {
    bytes += Number(row.bytes)
    if (ids.length > 0 && bytes > maxPageBytes) break
    ids.push(row.id)
  }
  const last = ids.at(-1)
  return { ids, nextCursor: last !== undefined && ids.length < found.length ? encodeCursor(last) : null }
}
