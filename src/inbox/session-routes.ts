import { idParamsSchema } from '../api/common-schemas.ts'
import { describeRoute } from '../api/describe.ts'
import { readInstant } from '../api/page.ts'
import { memberScopeRefusals, requireMemberScope } from '../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../api/session/session-route.ts'
import { changeMatching, countMatching, countUnread } from './matching/matching.ts'
import { messageRefusals } from './messages/messages.ts'
import { previewReply } from './reply/reply-preview.ts'
import type { InboxDeps } from './routes.ts'
import {
  cappedCountSchema,
  matchingChangedSchema,
  matchingChangeSchema,
  matchingQuerySchema,
  replyPreviewSchema,
  threadSchema,
  unreadCountsSchema,
  unreadQuerySchema,
} from './session-schema.ts'
import { readThread } from './threads/thread.ts'

const refusals = [...sessionRefusals, ...memberScopeRefusals] as const

/** What the screens of received mail need beyond the API: counts, changes of all that a filter matches, threads. */
export function inboxSessionRoutes(deps: Pick<InboxDeps, 'db' | 'blobs' | 'texts' | 'beforeMove'>) {
  const { db } = deps
  return sessionApi('mail-screens')
    .get(
      '/app/api/mail/unread',
      async ({ member, query }) => {
        requireMemberScope(member, 'inbox:read')
        return { data: [...(await countUnread(db, member, query.mailbox_id))] }
      },
      {
        detail: describeRoute('countUnread', 'Count the unread messages of each folder', refusals),
        member: 'session',
        query: unreadQuerySchema,
        response: unreadCountsSchema,
      },
    )
    .get(
      '/app/api/mail/matching',
      ({ member, query }) => {
        requireMemberScope(member, 'inbox:read')
        const isRead = query.read === undefined ? undefined : query.read === 'true'
        return countMatching(db, member, matchingOf(query), isRead)
      },
      {
        detail: describeRoute('countMatching', 'Count the messages that a filter matches', refusals),
        member: 'session',
        query: matchingQuerySchema,
        response: cappedCountSchema,
      },
    )
    .post(
      '/app/api/mail/matching',
      async ({ member, body }) => {
        requireMemberScope(member, 'inbox:write')
        const { updated, has_more } = await changeMatching(deps, member, matchingOf(body), body.change)
        return { updated: [...updated], has_more }
      },
      {
        detail: describeRoute('changeMatching', 'Move or mark the next 1,000 messages that a filter matches', refusals),
        member: 'session',
        body: matchingChangeSchema,
        response: matchingChangedSchema,
      },
    )
    .get(
      '/app/api/mail/threads/:id',
      ({ member, params }) => {
        requireMemberScope(member, 'inbox:read')
        return readThread(db, member, params.id)
      },
      {
        detail: describeRoute('getThread', 'List what was received and sent in a thread', refusals),
        member: 'session',
        params: idParamsSchema,
        response: threadSchema,
      },
    )
    .get(
      '/app/api/mail/messages/:id/reply-preview',
      ({ member, params }) => {
        requireMemberScope(member, 'inbox:read')
        return previewReply(deps, member, params.id)
      },
      {
        detail: describeRoute('previewReply', 'Tell whom a reply would go to', [...refusals, ...messageRefusals]),
        member: 'session',
        params: idParamsSchema,
        response: replyPreviewSchema,
      },
    )
}

function matchingOf(given: Pick<typeof matchingChangeSchema.static, 'folder' | 'mailbox_id' | 'received_until'>) {
  return {
    folder: given.folder,
    mailboxId: given.mailbox_id,
    receivedUntil: readInstant(given.received_until, 'received_until'),
  }
}
