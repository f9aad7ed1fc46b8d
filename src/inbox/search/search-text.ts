import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { Log } from '../../base/observability/log.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
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
  const body = summary ? await bodyText(deps, summary) : ''
  const text = searchableText(message, summary, body).slice(0, maxCharacters)
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

/** The text last: it may be long, and then nothing else is cut off. */
function searchableText(message: UnindexedRow, summary: MessageSummary | null, body: string): string {
  const to = fromJson(message.to_addresses).flatMap(({ name, address }) => [name, address])
  const cc = (summary?.cc ?? []).flatMap(({ name, address }) => [name, address])
  const filenames = (summary?.attachments ?? []).map(attachment => attachment.filename)
  const head = [message.subject, message.from_name, message.from_address, ...to, ...cc, message.rcpt_to, ...filenames]
  return [...head, body].join('\n')
}

/** The text, unless the HTML has much more: beside HTML, plain text is often only a note that there is HTML. */
async function bodyText({ texts }: Pick<SearchTextDeps, 'texts'>, { text, html }: MessageSummary): Promise<string> {
  const fromHtml = html === null ? '' : ((await texts.run('searchableHtmlText', html)) ?? '')
  return text !== null && fromHtml.length < 2 * text.length ? text : fromHtml
}
