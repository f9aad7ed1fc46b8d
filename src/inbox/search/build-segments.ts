import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { blockSize, readPostings } from './segment.ts'
import { insertBlock, lockNextBlock, selectBlockCount, selectUnplacedSizes, selectUnplacedTexts } from './table.ts'

export interface Gathering {
  readonly db: Db
  readonly texts: TextWorker
}

/** The words that are read through at each search, at most, beside those that come meanwhile. */
const maxUnplacedBytes = 4 * 1024 * 1024

/**
 * Puts the oldest messages of these organizations into a block, where there are enough that are in none: those are read
 * through at each search. How many blocks were made.
 */
export async function gatherBlocks(use: Gathering, organizationIds: readonly Id<'org'>[]): Promise<number> {
  let made = 0
  for (const { organization_id, messages, bytes } of await selectUnplacedSizes(use.db, organizationIds))
    if (messages >= blockSize || bytes >= maxUnplacedBytes) made += (await gatherBlock(use, organization_id)) ? 1 : 0
  return made
}

/** False: another process made this block meanwhile. */
async function gatherBlock({ db, texts }: Gathering, organizationId: Id<'org'>): Promise<boolean> {
  const block = await selectBlockCount(db, organizationId)
  const messages = await selectUnplacedTexts(db, organizationId)
  if (messages.length === 0) return false
  const words = messages.map(each => each.words).join('\n')
  const postings = await texts.run('blockPostings', words)
  if (postings === null) throw new Error(`block ${block} of ${organizationId} could not be gathered`)
  const messageIds = messages.map(each => each.message_id)
  return await inTransaction(db, async tx => {
    if ((await lockNextBlock(tx, organizationId)) !== block) return false
    await insertBlock(tx, organizationId, block, messageIds, readPostings(postings))
    return true
  })
}
