import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { readPostings, segmentSize } from './segment.ts'
import {
  insertSegment,
  lockIndexHead,
  selectIndexHead,
  selectUnsegmentedSizes,
  selectUnsegmentedTexts,
} from './table.ts'

export interface SegmentDeps {
  readonly db: Db
  readonly texts: TextWorker
}

/** The words that each search scans at most, beside those that come while a segment is built. */
const maxUnsegmentedBytes = 4 * 1024 * 1024
/** The words of one segment: building it takes several times as much memory. A message has at most 1 MiB. */
const maxSegmentBytes = maxUnsegmentedBytes + 1024 * 1024

/**
 * Builds a segment of the oldest messages of each of these organizations that has enough of them in none: each search scans
 * those. Returns those of which one was built: they may have enough for another.
 */
export async function buildSegments(
  deps: SegmentDeps,
  organizationIds: readonly Id<'org'>[],
): Promise<readonly Id<'org'>[]> {
  if (organizationIds.length === 0) return []
  const built: Id<'org'>[] = []
  for (const { organization_id, messages, bytes } of await selectUnsegmentedSizes(deps.db, organizationIds))
    if ((messages >= segmentSize || bytes >= maxUnsegmentedBytes) && (await buildSegment(deps, organization_id)))
      built.push(organization_id)
  return built
}

/** False: meanwhile another process built this segment, or changed texts in the index. */
async function buildSegment({ db, texts }: SegmentDeps, organizationId: Id<'org'>): Promise<boolean> {
  const { segments: segment, revision } = await selectIndexHead(db, organizationId)
  const messages = await selectUnsegmentedTexts(db, organizationId, maxSegmentBytes)
  if (messages.length === 0) return false
  const words = messages.map(message => message.words).join('\n')
  const postings = await texts.run('buildPostings', words)
  if (postings === null)
    throw new Error(`the search segment ${segment} of ${organizationId} could not be built in time`)
  const messageIds = messages.map(message => message.message_id)
  return await inTransaction(db, async tx => {
    const head = await lockIndexHead(tx, organizationId)
    if (head?.segments !== segment || head.revision !== revision) return false
    await insertSegment(tx, organizationId, segment, messageIds, readPostings(postings))
    return true
  })
}
