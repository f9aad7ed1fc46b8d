import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { needsHtmlText, searchableBody, searchableContentText, searchableRowText } from './searchable-text.ts'
import type { NewSearchTextRow, UnindexedRow } from './table.ts'

export interface SearchTextDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly texts: TextWorker
  readonly log: Log
}

const maxCharacters = 1024 * 1024

export interface SearchText extends Omit<NewSearchTextRow, 'words'> {
  /** Null: they could not be made in time. */
  readonly words: string | null
  /** Were the message's bytes read? If not, only what the database has of it is in the words. */
  readonly isComplete: boolean
}

/** What is indexed of a message: subject, addresses, names of attachments, text. */
export async function searchTextOf(deps: SearchTextDeps, message: UnindexedRow): Promise<SearchText> {
  const { id, organization_id, brand_id } = message
  const summary = await readSummaryOrNull(deps, message)
  const content = summary ? searchableContentText(summary, await bodyText(deps, summary)) : ''
  const text = [searchableRowText(message), content].join('\n').slice(0, maxCharacters)
  const words = await deps.texts.run('toSearchText', text)
  return { message_id: id, organization_id, brand_id, words, isComplete: summary !== null }
}

/** Null where the bytes cannot be read though the database is well: one lost message must not stop the others. */
async function readSummaryOrNull(deps: SearchTextDeps, message: UnindexedRow): Promise<MessageSummary | null> {
  try {
    return await readStoredSummary(deps, message)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    deps.log.error(
      { err: error, message_id: message.id },
      'could not read a stored message to index it; search finds it by its subject and addresses only',
    )
    return null
  }
}

async function bodyText({ texts }: Pick<SearchTextDeps, 'texts'>, { text, html }: MessageSummary): Promise<string> {
  const hasOwnText = html !== null && needsHtmlText(text, html)
  return searchableBody(text, hasOwnText ? ((await texts.run('searchableHtmlText', html)) ?? '') : '')
}
