import type { Db } from '../base/database.ts'
import { refuse } from '../base/refusal.ts'
import type { Folder } from '../base/schema.ts'
import type { Caller } from '../web/caller.ts'
import { selectFound } from './search-table.ts'
import { booleanQuery, wordMark } from './search-words.ts'
import type { ItemRow } from './table.ts'

/**
 * The newest messages that hold all words and "phrases" of `query` and none of its -exclusions; case and accents do not
 * matter. @throws Refusal invalid_request when it asks for nothing
 */
export async function searchMessages(
  db: Db,
  caller: Caller,
  query: string,
  listing: { readonly folder: Folder | undefined; readonly limit: number },
): Promise<ItemRow[]> {
  const asked = booleanQuery(wordMark(caller.organizationId), query)
  if (asked === null)
    throw refuse('invalid_request', { message: `The query "${query}" names no word to look for.`, param: 'q' })
  return await selectFound(db, caller, asked, listing)
}
