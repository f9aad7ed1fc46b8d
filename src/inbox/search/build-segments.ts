import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { readPostings, segmentSize } from './segment.ts'
import {
  insertSegment,
  lockNextSegment,
  selectSegmentCount,
  selectUnsegmentedSizes,
  selectUnsegmentedTexts,
} from './table.ts'

export interface SegmentDeps {
  readonly db: Db
  readonly texts: TextWorker
}

/** The words that are read through at each search, at most, beside those that come meanwhile. */
const maxUnsegmentedBytes = 4 * 1024 * 1024

/**
 * Puts the oldest messages of these organizations into a block, where there are enough that are in none: those are read
 * through at each search. How many blocks were made.
 */
export async function buildSegments(deps: SegmentDeps, organizationIds: readonly Id<'org'>[]): Promise<number> {
  let made = 0
  for (const { organization_id, messages, bytes } of await selectUnsegmentedSizes(deps.db, organizationIds))
    if (messages >= segmentSize || bytes >= maxUnsegmentedBytes)
      made += (await buildSegment(deps, organization_id)) ? 1 : 0
  return made
}

/** False: another process made this block meanwhile. */
async function buildSegment({ db, texts }: SegmentDeps, organizationId: Id<'org'>): Promise<boolean> {
  const block = await selectSegmentCount(db, organizationId)
  const messages = await selectUnsegmentedTexts(db, organizationId)
  if (messages.length === 0) return false
  const words = messages.map(message => message.words).join('\n')
  const postings = await texts.run('buildPostings', words)
  if (postings === null) throw new Error(`block ${block} of ${organizationId} could not be gathered`)
  const messageIds = messages.map(message => message.message_id)
  return await inTransaction(db, async tx => {
    if ((await lockNextSegment(tx, organizationId)) !== block) return false
    await insertSegment(tx, organizationId, block, messageIds, readPostings(postings))
    return true
  })
}
