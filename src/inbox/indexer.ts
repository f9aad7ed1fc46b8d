import { type Db, inTransaction, isDatabaseTrouble } from '../base/database.ts'
import type { Log } from '../base/log.ts'
import { fromJson, type Schema } from '../base/schema.ts'
import { type MessageFacts, outlineMessage } from '../mail/message.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import { storedMessage } from './content.ts'
import { insertSearchText, selectUnindexed, type Unindexed } from './search-table.ts'
import { searchWords, wordMark } from './search-words.ts'

const batch = 50
const idleMs = 1000
const maxWordsCharacters = 1024 * 1024

export interface Indexing {
  readonly db: Db
  readonly blobs: Blobs
  readonly log: Log
}

/**
 * Gives messages their search text, behind the way in, so that accepting a message waits for no index. Several
 * processes may do it at once: what is done twice comes out the same. `stop` resolves when nothing is under way.
 */
export function startIndexing(use: Indexing): { stop(): Promise<void> } {
  let stopped = false
  let wake: () => void = () => undefined
  const pause = (ms: number) =>
    new Promise<void>(done => {
      const timer = setTimeout(done, ms)
      wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  const ended = (async () => {
    while (!stopped) {
      const done = await indexSome(use).catch((error: unknown) => {
        use.log.error({ err: error }, 'search text was not written')
        return 0
      })
      if (!stopped && done < batch) await pause(idleMs)
    }
  })()
  return {
    stop: () => {
      stopped = true
      wake()
      return ended
    },
  }
}

/** Indexes the oldest messages that wait for it, at most {@link batch}; how many there were. */
export async function indexSome({ db, blobs }: Indexing): Promise<number> {
  const waiting = await selectUnindexed(db, batch)
  const rows: Schema['message_search'][] = []
  for (const message of waiting) {
    const facts = await factsOf(blobs, message)
    const { id, organization_id, brand_id } = message
    rows.push({ message_id: id, organization_id, brand_id, words: wordsOf(message, facts) })
  }
  if (rows.length > 0) await inTransaction(db, trx => insertSearchText(trx, rows))
  return waiting.length
}

/** Null where the bytes cannot be read though the database is well: one lost message must not hold up the others. */
async function factsOf(blobs: Blobs, message: Unindexed): Promise<MessageFacts | null> {
  try {
    return await outlineMessage(storedMessage(blobs, message.organization_id, message.blob_id))
  } catch (error) {
    if (isDatabaseTrouble(error)) throw error
    return null
  }
}

function wordsOf(message: Unindexed, facts: MessageFacts | null): string {
  const to = fromJson(message.to_addresses).flatMap(each => [each.name, each.address])
  const text = facts?.text ?? facts?.html?.replace(/<[^>]*>/g, ' ') ?? ''
  const all = [
    message.subject,
    message.from_name,
    message.from_address,
    ...to,
    message.rcpt_to,
    text,
    ...(facts?.attachments ?? []).map(each => each.filename),
  ].join('\n\n')
  const words = searchWords(wordMark(message.organization_id), all.slice(0, maxWordsCharacters)).join(' ')
  return words.slice(0, 8 * maxWordsCharacters)
}
