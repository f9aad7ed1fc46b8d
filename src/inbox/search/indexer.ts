import { type Rounds, startRounds } from '../../base/concurrency/background-job.ts'
import { inTurn } from '../../base/concurrency/semaphore.ts'
import { type Db, inTransaction, isDatabaseTrouble } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { Log } from '../../base/observability/log.ts'
import type { MessageFacts } from '../../mail/message.ts'
import { visibleText } from '../../mail/preview.ts'
import type { Blobs } from '../../ports/blobs/port.ts'
import { maxLightBytes, outlineStored } from '../messages/stored-message.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { gatherBlocks } from './build-segments.ts'
import { insertSearchText, type NewSearchText, selectUnindexed, type Unindexed } from './table.ts'

/** Messages read at once, large ones one after the other; their words, at most 1 MiB each, go into one statement. */
const batch = 8
const idleMs = 500
const maxCharacters = 1024 * 1024

export interface Indexing {
  readonly db: Db
  readonly blobs: Blobs
  readonly texts: TextWorker
  readonly log: Log
}

/**
 * Gives messages their search text, behind the way in, so that accepting a message waits for no index. Several
 * processes may do it at once: what is done twice comes out the same. `stop` resolves when nothing is under way.
 */
export function startIndexing(use: Indexing): Rounds {
  const options = { pauseMs: idleMs, log: use.log, failure: 'search text was not written' }
  return startRounds(options, async () => ((await indexSome(use)) < batch ? 'done' : 'more'))
}

/** Indexes some of the messages that wait for it, the oldest first; how many. */
export async function indexSome(use: Indexing): Promise<number> {
  const waiting = await selectUnindexed(use.db, batch)
  if (waiting.length === 0) return 0
  const inOneTurn = inTurn(1)
  const rows = await Promise.all(
    waiting.map(message =>
      message.size <= maxLightBytes ? searchRow(use, message) : inOneTurn(() => searchRow(use, message)),
    ),
  )
  await inTransaction(use.db, trx => insertSearchText(trx, rows))
  await gatherBlocks(use, [...new Set(rows.map(each => each.organization_id))])
  return waiting.length
}

async function searchRow(use: Indexing, message: Unindexed): Promise<NewSearchText> {
  const { id, organization_id, brand_id } = message
  const text = searchedText(message, await factsOf(use, message)).slice(0, maxCharacters)
  const words = await use.texts.run('searchText', text)
  return { message_id: id, organization_id, brand_id, words: words ?? '' }
}

/** Null where the bytes cannot be read though the database is well: one lost message must not hold up the others. */
async function factsOf(use: Indexing, message: Unindexed): Promise<MessageFacts | null> {
  try {
    return await outlineStored(use, message)
  } catch (error) {
    if (isDatabaseTrouble(error)) throw error
    use.log.error({ err: error, message_id: message.id }, 'a message could not be read for its search text')
    return null
  }
}

/** Names before the text, so that a long text cuts none of them off. */
function searchedText(message: Unindexed, facts: MessageFacts | null): string {
  const to = fromJson(message.to_addresses).flatMap(each => [each.name, each.address])
  const cc = (facts?.cc ?? []).flatMap(each => [each.name, each.address])
  const filenames = (facts?.attachments ?? []).map(each => each.filename)
  const head = [message.subject, message.from_name, message.from_address, ...to, ...cc, message.rcpt_to, ...filenames]
  return [...head, facts ? bodyText(facts) : ''].join('\n')
}

/** Beside HTML, the plain text is often only a word about the HTML: what says more is searched. */
function bodyText({ text, html }: MessageFacts): string {
  const shown = html === null ? '' : visibleText(html, maxCharacters)
  return text !== null && shown.length < 2 * text.length ? text : shown
}
