import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { inTransaction } from '../../base/database/database.ts'
import { maxInlineBytes } from '../messages/stored-message.ts'
import { reindexRound } from './reindex.ts'
import { type SearchTextDeps, searchTextOf } from './search-text.ts'
import { insertSearchTexts, selectUnindexed, updateIndexed } from './table.ts'

/** Large messages among them are parsed one after the other; their words, at most 1 MiB each, go into one statement. */
const batchSize = 8

/**
 * A round of the job `search-index`: indexes some messages that were not when they were filed (searchable-text.ts), because their
 * text is long or malformed; when there are none, indexes again some that were indexed wrongly. Several processes may do it
 * at once: what is indexed twice comes out the same.
 */
export async function indexRound(deps: SearchTextDeps): Promise<'more' | 'done'> {
  const indexed = await indexBatch(deps)
  if (indexed === 0) await reindexRound(deps)
  return indexed < batchSize ? 'done' : 'more'
}

/** Indexes some of the messages that are not indexed, the oldest first. Returns how many. */
export async function indexBatch(deps: SearchTextDeps): Promise<number> {
  const messages = await selectUnindexed(deps.db, batchSize)
  if (messages.length === 0) return 0
  const oneAtATime = limitConcurrency(1)
  const texts = await Promise.all(
    messages.map(message =>
      message.size <= maxInlineBytes ? searchTextOf(deps, message) : oneAtATime(() => searchTextOf(deps, message)),
    ),
  )
  const rows = texts.map(({ isComplete: _, words, ...text }) => ({ ...text, words: words ?? '' }))
  await inTransaction(deps.db, async tx => {
    await insertSearchTexts(tx, rows)
    await updateIndexed(
      tx,
      rows.map(row => row.message_id),
    )
  })
  return messages.length
}
