import { t } from 'elysia'
import { idParamsSchema } from '../api/common-schemas.ts'
import { describeRoute } from '../api/describe.ts'
import { describeFile, fileResponse } from '../api/file-response.ts'
import { limitParamSchema, pageSize, readMessageCursor, toJsonMessageCursor } from '../api/page.ts'
import { api } from '../api/route.ts'
import type { BlobStore } from '../ports/blobs/port.ts'
import { changeMessages } from './messages/change-messages.ts'
import { downloadAttachment, downloadMessage, downloadRefusals } from './messages/download.ts'
import {
  listMessages,
  markMessage,
  messageRefusals,
  moveMessage,
  restoreMessage,
  restoreMessageRefusals,
  starMessage,
} from './messages/messages.ts'
import { readMessage } from './messages/read-message.ts'
import {
  attachmentParamsSchema,
  bulkBodySchema,
  bulkResultSchema,
  folderBodySchema,
  inboundMessageSchema,
  inboxItemSchema,
  inboxPageSchema,
  listedFolderSchema,
  markedSchema,
  movedSchema,
  readBodySchema,
  remoteContentSchema,
  searchedFolderSchema,
  starBodySchema,
  starredSchema,
  toJsonInboxItem,
} from './messages/schema.ts'
import { searchMessages } from './search/search.ts'
import type { MoveDeps } from './spam-lessons/lessons.ts'
import type { TextWorker } from './text-worker/text-worker.ts'

export interface InboxDeps extends MoveDeps {
  readonly blobs: BlobStore
  readonly texts: TextWorker
  /** Our name in the header fields that a raw message gets. */
  readonly hostname: string
}

/** Received messages: lists, search, reading, folders and flags, downloads. */
export function inboxRoutes(deps: InboxDeps) {
  const { db } = deps
  return api('inbox')
    .get(
      '/v1/inbox',
      async ({ caller, query }) => {
        const { items, next } = await listMessages(db, caller, {
          folder: query.folder ?? (query.thread_id === undefined ? 'inbox' : null),
          mailboxId: query.mailbox_id,
          threadId: query.thread_id,
          after: readMessageCursor(query.cursor_at, query.cursor_id),
          limit: pageSize(query.limit),
        })
        return { data: items.map(toJsonInboxItem), next_cursor: toJsonMessageCursor(next) }
      },
      {
        detail: describeRoute('listMessages', 'List received messages'),
        scope: 'inbox:read',
        query: t.Object({
          limit: limitParamSchema,
          folder: listedFolderSchema,
          mailbox_id: t.Optional(
            t.String({ minLength: 1, maxLength: 64, description: 'Only messages to this mailbox.' }),
          ),
          thread_id: t.Optional(
            t.String({
              minLength: 1,
              maxLength: 64,
              description: 'Only messages of this thread, in any folder unless one is given.',
            }),
          ),
          cursor_at: t.Optional(t.String({ description: '`next_cursor.received_at` of the previous page.' })),
          cursor_id: t.Optional(
            t.String({ description: '`next_cursor.id` of the previous page; required with `cursor_at`.' }),
          ),
        }),
        response: inboxPageSchema,
      },
    )
    .get(
      '/v1/inbox/search',
      async ({ caller, query }) => {
        const items = await searchMessages(db, caller, query.q, { folder: query.folder, limit: pageSize(query.limit) })
        return { data: items.map(toJsonInboxItem) }
      },
      {
        detail: describeRoute('searchMessages', 'Search received messages'),
        scope: 'inbox:read',
        query: t.Object({
          q: t.String({
            minLength: 1,
            maxLength: 256,
            description: 'Words that must all occur, `"quoted phrases"`, and `-exclusions` of either.',
          }),
          limit: limitParamSchema,
          folder: searchedFolderSchema,
        }),
        response: t.Object({ data: t.Array(inboxItemSchema) }),
      },
    )
    .get(
      '/v1/inbox/:id',
      ({ caller, params, query }) => readMessage(deps, caller, params.id, query.remote ?? 'block'),
      {
        detail: describeRoute('getMessage', 'Read a received message', messageRefusals),
        scope: 'inbox:read',
        params: idParamsSchema,
        query: t.Object({ remote: remoteContentSchema }),
        response: inboundMessageSchema,
      },
    )
    .delete(
      '/v1/inbox/:id',
      ({ caller, params, reservation }) => moveMessage(deps, caller, params.id, 'trash', reservation),
      {
        detail: describeRoute('trashMessage', 'Move a message to the trash', messageRefusals),
        scope: 'inbox:write',
        params: idParamsSchema,
        response: movedSchema,
      },
    )
    .get(
      '/v1/inbox/:id/attachments/:attachmentId',
      async ({ caller, params }) =>
        fileResponse(await downloadAttachment(deps, caller, params.id, params.attachmentId)),
      {
        detail: {
          ...describeRoute('getAttachment', 'Download an attachment', downloadRefusals),
          ...describeFile('application/octet-stream'),
        },
        scope: 'inbox:read',
        params: attachmentParamsSchema,
      },
    )
    .get(
      '/v1/inbox/:id/raw',
      async ({ caller, params }) => fileResponse(await downloadMessage(deps, caller, params.id)),
      {
        detail: {
          ...describeRoute('getRawMessage', 'Download a raw message', downloadRefusals),
          ...describeFile('message/rfc822'),
        },
        scope: 'inbox:read',
        params: idParamsSchema,
      },
    )
    .post(
      '/v1/inbox/:id/folder',
      ({ caller, params, body, reservation }) => moveMessage(deps, caller, params.id, body.folder, reservation),
      {
        detail: describeRoute('moveMessage', 'Move a message to a folder', messageRefusals),
        scope: 'inbox:write',
        params: idParamsSchema,
        body: folderBodySchema,
        response: movedSchema,
      },
    )
    .post(
      '/v1/inbox/:id/star',
      ({ caller, params, body, reservation }) => starMessage(deps, caller, params.id, body.starred, reservation),
      {
        detail: describeRoute('starMessage', 'Star or unstar a message', messageRefusals),
        scope: 'inbox:write',
        params: idParamsSchema,
        body: starBodySchema,
        response: starredSchema,
      },
    )
    .post(
      '/v1/inbox/:id/read',
      ({ caller, params, body, reservation }) => markMessage(deps, caller, params.id, body.read, reservation),
      {
        detail: describeRoute('markMessage', 'Mark a message as read or unread', messageRefusals),
        scope: 'inbox:write',
        params: idParamsSchema,
        body: readBodySchema,
        response: markedSchema,
      },
    )
    .post('/v1/inbox/bulk', ({ caller, body, reservation }) => changeMessages(deps, caller, body, reservation), {
      detail: describeRoute('changeMessages', 'Move, star or mark many messages'),
      scope: 'inbox:write',
      body: bulkBodySchema,
      response: bulkResultSchema,
    })
    .post(
      '/v1/inbox/:id/restore',
      ({ caller, params, reservation }) => restoreMessage(deps, caller, params.id, reservation),
      {
        detail: describeRoute('restoreMessage', 'Restore a message from the trash', restoreMessageRefusals),
        scope: 'inbox:write',
        params: idParamsSchema,
        response: movedSchema,
      },
    )
}
