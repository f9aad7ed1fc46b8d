import type { Id } from '../../base/ids.ts'
import { buildSegments, type SegmentDeps } from './build-segments.ts'
import { selectIndexedOrganizations, selectNewestIndexed, selectOrganizationsIndexedAfter } from './table.ts'

/**
 * The rounds of the job `search-segments`: each builds segments of the organizations that have new messages in the index, the
 * first one of all that have enough. Several processes may do it at once.
 */
export function openSegmentRounds(deps: SegmentDeps): () => Promise<'more' | 'done'> {
  let newest: Id<'msg'> | '' | undefined
  const waiting = new Set<Id<'org'>>()

  /** A message that is committed late, below the newest, waits for the next one of its organization. */
  async function findNew(): Promise<void> {
    if (newest === undefined) {
      newest = await selectNewestIndexed(deps.db)
      for (const id of await selectIndexedOrganizations(deps.db)) waiting.add(id)
    } else
      for (const organization of await selectOrganizationsIndexedAfter(deps.db, newest)) {
        waiting.add(organization.organization_id)
        if (organization.newest > newest) newest = organization.newest
      }
  }

  return async () => {
    await findNew()
    const built = await buildSegments(deps, [...waiting])
    waiting.clear()
    for (const id of built) waiting.add(id)
    return built.length > 0 ? 'more' : 'done'
  }
}
