import { inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { buildSegments } from './build-segments.ts'
import {
  deleteReindexCursor,
  incrementRevision,
  selectIndexedMessages,
  selectReindexCursor,
  selectTextsAfter,
  updateReindexCursor,
  updateSearchText,
} from './reindex-table.ts'
import { type SearchTextDeps, searchTextOf } from './search-text.ts'
import { deletePostings, isSegmentEmpty, selectSearchSegments } from './segments-table.ts'

/** Their words are at most 1 MiB each. */
const messagesPerBatch = 8
const batchesPerRound = 8
const postingsPerStatement = 2000

/**
 * Indexes again what versions before migration 0017 indexed wrongly: text from HTML in which an entity for a letter was not
 * decoded. A few messages a round, the oldest first; only those with such a name among their words are read again. Several
 * processes may do it at once.
 * @returns how many messages were looked through; 0: nothing is left to do
 */
export async function reindexRound(deps: SearchTextDeps): Promise<number> {
  let messages = 0
  for (let batch = 0; batch < batchesPerRound; batch++) {
    const inBatch = await reindexBatch(deps)
    if (inBatch === 0) break
    messages += inBatch
  }
  return messages
}

async function reindexBatch(deps: SearchTextDeps): Promise<number> {
  const { db, log } = deps
  const cursor = await selectReindexCursor(db)
  if (cursor === undefined) return 0
  const indexed = await selectTextsAfter(db, cursor, messagesPerBatch)
  const last = indexed.at(-1)
  if (!last) {
    await deleteReindexCursor(db)
    log.info({}, 'indexed all messages again whose HTML had been indexed with undecoded entities')
    return 0
  }
  const suspect = indexed.filter(({ words }) => hasEntityName(words))
  const texts = await textsToReplace(deps, new Map(suspect.map(({ message_id, words }) => [message_id, words])))
  const segments = await selectSearchSegments(
    db,
    texts.map(text => text.message_id),
  )
  const organizationIds = [...new Set(texts.map(text => text.organization_id))].sort()
  await inTransaction(db, async tx => {
    for (const id of organizationIds) await incrementRevision(tx, id)
    for (const text of texts) await updateSearchText(tx, text)
    await updateReindexCursor(tx, last.message_id)
  })
  await buildSegments(deps, organizationIds)
  for (const segment of segments)
    if (await isSegmentEmpty(db, segment)) while ((await deletePostings(db, segment, postingsPerStatement)) > 0);
  return indexed.length
}

/** The search texts that differ from the stored ones. A message whose bytes are deleted or unreadable keeps its text. */
async function textsToReplace(deps: SearchTextDeps, oldWords: ReadonlyMap<Id<'msg'>, string>) {
  const texts = []
  for (const message of await selectIndexedMessages(deps.db, [...oldWords.keys()])) {
    const text = await searchTextOf(deps, message)
    const { words, isComplete } = text
    if (isComplete && words !== null && words !== oldWords.get(message.id)) texts.push({ ...text, words })
  }
  return texts
}

const accents = 'acute breve caron cedil circ dblac dot grave macr ogon ring slash strok tilde uml'
const latin = 'aelig eng eth fnof ijlig imath lmidot oelig szlig thorn'
const greek =
  'alpha beta gamma delta epsilon zeta eta theta thetasym iota kappa lambda mu nu xi omicron pi piv rho sigma sigmaf tau ' +
  'upsilon upsih phi chi psi omega'
const cyrillic = '[a-z] zh kh ts ch sh shch yu ya io hard soft'
const either = (words: string) => `(?:${words.replaceAll(' ', '|')})`

/** A token that is the name of a letter's entity. The names of other signs' entities add words, but split none. */
const entityName = new RegExp(` 0(?:[a-z]${either(accents)}|${either(latin)}|${either(greek)}|${either(cyrillic)}cy) `)

/** May these words come from HTML with undecoded entities? Some are ordinary words; then the text does not change. */
function hasEntityName(words: string): boolean {
  return entityName.test(words)
}
