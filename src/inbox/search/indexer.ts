import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { type Db, inTransaction, isDatabaseUnavailable } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { Log } from '../../base/observability/log.ts'
import { htmlToText } from '../../mail/html-to-text.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { maxInlineBytes, readStoredSummary } from '../messages/stored-message.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { buildSegments } from './build-segments.ts'
import { insertSearchText, type NewSearchTextRow, selectUnindexed, type UnindexedRow } from './table.ts'

/** Messages read at once, large ones one after the other; their words, at most 1 MiB each, go into one statement. */
const batchSize = 8
const maxCharacters = 1024 * 1024

export interface IndexerDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly texts: TextWorker
  readonly log: Log
}

/**
 * A round of the job `search-index`: indexes some messages, after they were accepted, so that accepting waits for no index.
 * Several processes may do it at once: what is indexed twice comes out the same.
 */
export async function indexRound(deps: IndexerDeps): Promise<'more' | 'done'> {
  return (await indexBatch(deps)) < batchSize ? 'done' : 'more'
}

/** Indexes some of the messages that wait for it, the oldest first; how many. */
export async function indexBatch(deps: IndexerDeps): Promise<number> {
  const waiting = await selectUnindexed(deps.db, batchSize)
  if (waiting.length === 0) return 0
  const inOneTurn = limitConcurrency(1)
  const rows = await Promise.all(
    waiting.map(message =>
      message.size <= maxInlineBytes ? searchTextRow(deps, message) : inOneTurn(() => searchTextRow(deps, message)),
    ),
  )
  await inTransaction(deps.db, trx => insertSearchText(trx, rows))
  await buildSegments(deps, [...new Set(rows.map(row => row.organization_id))])
  return waiting.length
}

async function searchTextRow(deps: IndexerDeps, message: UnindexedRow): Promise<NewSearchTextRow> {
  const { id, organization_id, brand_id } = message
  const text = searchableText(message, await parseOrNull(deps, message)).slice(0, maxCharacters)
  const words = await deps.texts.run('toSearchText', text)
  return { message_id: id, organization_id, brand_id, words: words ?? '' }
}

/** Null where the bytes cannot be read though the database is well: one lost message must not hold up the others. */
async function parseOrNull(deps: IndexerDeps, message: UnindexedRow): Promise<MessageSummary | null> {
  try {
    return await readStoredSummary(deps, message)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    deps.log.error({ err: error, message_id: message.id }, 'a message could not be read for its search text')
    return null
  }
}

/** Names before the text, so that a long text cuts none of them off. */
function searchableText(message: UnindexedRow, facts: MessageSummary | null): string {
  const to = fromJson(message.to_addresses).flatMap(each => [each.name, each.address])
  const cc = (facts?.cc ?? []).flatMap(address => [address.name, address.address])
  const filenames = (facts?.attachments ?? []).map(attachment => attachment.filename)
  const head = [message.subject, message.from_name, message.from_address, ...to, ...cc, message.rcpt_to, ...filenames]
  return [...head, facts ? bodyText(facts) : ''].join('\n')
}

/** Beside HTML, the plain text is often only a word about the HTML: what says more is searched. */
function bodyText({ text, html }: MessageSummary): string {
  const shown = html === null ? '' : htmlToText(html, { maxCharacters })
  return text !== null && shown.length < 2 * text.length ? text : shown
}
