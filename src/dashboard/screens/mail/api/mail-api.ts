import { answer, type OrganizationApi } from '../../../api/client.ts'
import type { components } from '../../../api/v1.ts'
import type { FolderName } from '../strings.ts'

export type InboxItem = components['schemas']['InboxItem']
export type InboundMessage = components['schemas']['InboundMessage']
export type ThreadItem = Awaited<ReturnType<MailApi['thread']>>['data'][number]
export type ReplyPreview = Awaited<ReturnType<MailApi['replyPreview']>>
type MailApi = ReturnType<typeof mailApi>

/** Which messages an act on all that match means: those that the list shows, and those behind "more". */
export interface Matching {
  readonly folder: FolderName
  readonly mailbox_id?: string
  readonly received_until: string
}

/** Requests to the dashboard's own routes of received mail. */
export function mailApi({ app }: OrganizationApi) {
  return {
    unread: (mailboxId: string | undefined) =>
      answer(
        app.GET('/app/api/mail/unread', {
          params: { query: mailboxId === undefined ? {} : { mailbox_id: mailboxId } },
        }),
      ),
    mailboxes: (startsWith: string) =>
      answer(
        app.GET('/app/api/mail/mailboxes', {
          params: { query: startsWith === '' ? {} : { starts_with: startsWith } },
        }),
      ),
    countMatching: (matching: Matching, isRead?: boolean) =>
      answer(
        app.GET('/app/api/mail/matching', {
          params: { query: { ...matching, ...(isRead !== undefined && { read: isRead ? 'true' : 'false' }) } },
        }),
      ),
    changeMatching: (matching: Matching, change: { readonly folder?: FolderName; readonly read?: boolean }) =>
      answer(app.POST('/app/api/mail/matching', { body: { ...matching, change } })),
    thread: (id: string) => answer(app.GET('/app/api/mail/threads/{id}', { params: { path: { id } } })),
    replyPreview: (id: string) =>
      answer(app.GET('/app/api/mail/messages/{id}/reply-preview', { params: { path: { id } } })),
  }
}

/** The most messages that one request changes. */
const mostIds = 200

/** Changes messages by their ids. Resolves to those that are not there, or are not the caller's. */
export async function changeMessages(
  { v1 }: OrganizationApi,
  ids: readonly string[],
  change: { readonly folder?: FolderName; readonly read?: boolean; readonly starred?: boolean },
): Promise<readonly string[]> {
  const missing: string[] = []
  for (let start = 0; start < ids.length; start += mostIds) {
    const body = { ids: ids.slice(start, start + mostIds), ...change }
    const { not_found } = await answer(v1.POST('/v1/inbox/bulk', { body }))
    missing.push(...not_found)
  }
  return missing
}
