import { answer, type OrganizationApi } from '../../../api/client.ts'
import type { InboxItem } from '../api/mail-api.ts'
import type { FolderName } from '../strings.ts'

/** What the list shows: a folder, of one mailbox or of all; or what a search found, in one folder or in all. */
export interface MessageSource {
  readonly folder: FolderName
  readonly mailboxId: string | undefined
  /** Empty: no search. */
  readonly search: string
}

export interface MessagePage {
  readonly rows: readonly InboxItem[]
  /** null: there are no more. */
  readonly next: InboxItem | null
}

export const pageSize = 50
/** A search has no further pages: so many of the newest are shown. */
export const mostFound = 200

/** Trash and quarantine are searched only when one is in them; in the others, all folders are. */
function searchedFolder(folder: FolderName): FolderName | undefined {
  return folder === 'trash' || folder === 'quarantine' ? folder : undefined
}

/** A page of the source, after this message. */
export async function loadMessages(
  api: OrganizationApi,
  { folder, mailboxId, search }: MessageSource,
  after: InboxItem | null,
): Promise<MessagePage> {
  if (search !== '') {
    const inFolder = searchedFolder(folder)
    const query = { q: search, limit: mostFound, ...(inFolder && { folder: inFolder }) }
    const { data } = await answer(api.v1.GET('/v1/inbox/search', { params: { query } }))
    return { rows: data, next: null }
  }
  const query = {
    folder,
    limit: pageSize,
    ...(mailboxId !== undefined && { mailbox_id: mailboxId }),
    ...(after && { cursor_at: after.received_at, cursor_id: after.id }),
  }
  const { data, next_cursor } = await answer(api.v1.GET('/v1/inbox', { params: { query } }))
  return { rows: data, next: next_cursor ? (data.at(-1) ?? null) : null }
}

/** Does `row` come before `other` in the list? Newest first, by id within an instant. */
export function isNewer(row: InboxItem, other: InboxItem): boolean {
  return row.received_at > other.received_at || (row.received_at === other.received_at && row.id > other.id)
}
