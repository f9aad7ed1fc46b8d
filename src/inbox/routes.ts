import { t } from 'elysia'
import { idParams } from '../api/common-schemas.ts'
import { says } from '../api/describe.ts'
import { fileAnswer, saysFile } from '../api/file-response.ts'
import { limitParam, pageSize, readReceivedCursor, receivedCursor } from '../api/page.ts'
import { api } from '../api/route.ts'
import type { Db } from '../base/database/database.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import { changeMessages } from './messages/bulk.ts'
import { downloadAttachment, downloadMessage } from './messages/download.ts'
import { listMessages, markMessage, moveMessage, restoreMessage, starMessage } from './messages/messages.ts'
import { readMessage } from './messages/read-message.ts'
import {
  attachmentParams,
  bulkBody,
  bulkShape,
  folderBody,
  inboundMessage,
  inboxItem,
  inboxPage,
  itemOf,
  listedFolder,
  markedShape,
  movedShape,
  readBody,
  remoteContent,
  searchedFolder,
  starBody,
  starredShape,
} from './messages/schema.ts'
import { searchMessages } from './search/search.ts'
import type { TextWorker } from './text-worker/text-worker.ts'

export interface InboxUse {
  readonly db: Db
  readonly blobs: Blobs
  readonly texts: TextWorker
  /** Our name, as the headers of a raw message say it. */
  readonly hostname: string
}

/** What arrived: lists, messages, folders and flags, downloads. */
export function inboxRoutes(use: InboxUse) {
  const { db } = use
  return api('inbox')
    .get(
      '/v1/inbox',
      async ({ caller, query }) => {
        const { items, next } = await listMessages(db, caller, {
          folder: query.folder ?? (query.thread_id === undefined ? 'inbox' : null),
          mailboxId: query.mailbox_id,
          threadId: query.thread_id,
          after: readReceivedCursor(query.cursor_at, query.cursor_id),
          limit: pageSize(query.limit),
        })
        return { data: items.map(itemOf), next_cursor: receivedCursor(next) }
      },
      {
        detail: says('listMessages', 'List received messages', ['invalid_cursor', 'not_found', 'brand_restricted']),
        scope: 'inbox:read',
        query: t.Object({
          limit: limitParam,
          folder: listedFolder,
          mailbox_id: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Of this mailbox.' })),
          thread_id: t.Optional(
            t.String({
              minLength: 1,
              maxLength: 64,
              description: 'Lists one thread, in every folder unless one is given.',
            }),
          ),
          cursor_at: t.Optional(
            t.String({ maxLength: 64, description: 'The page after: `next_cursor.received_at` of the page before.' }),
          ),
          cursor_id: t.Optional(
            t.String({
              minLength: 1,
              maxLength: 64,
              description: 'Goes with it: `next_cursor.id` of the page before.',
            }),
          ),
        }),
        response: inboxPage,
      },
    )
    .get(
      '/v1/inbox/search',
      async ({ caller, query }) => {
        const items = await searchMessages(db, caller, query.q, { folder: query.folder, limit: pageSize(query.limit) })
        return { data: items.map(itemOf) }
      },
      {
        detail: says('searchMessages', 'Search received messages'),
        scope: 'inbox:read',
        query: t.Object({
          q: t.String({
            minLength: 1,
            maxLength: 256,
            description: 'Words that must all be there, `"quoted phrases"`, and `-exclusions` of either.',
          }),
          limit: limitParam,
          folder: searchedFolder,
        }),
        response: t.Object({ data: t.Array(inboxItem) }),
      },
    )
    .get('/v1/inbox/:id', ({ caller, params, query }) => readMessage(use, caller, params.id, query.remote ?? 'block'), {
      detail: says('getMessage', 'Read a received message', ['not_found', 'brand_restricted']),
      scope: 'inbox:read',
      params: idParams,
      query: t.Object({ remote: remoteContent }),
      response: inboundMessage,
    })
    .delete(
      '/v1/inbox/:id',
      ({ caller, params, reservation }) => moveMessage(db, caller, params.id, 'trash', reservation),
      {
        detail: says('trashMessage', 'Move a message to the trash', ['not_found', 'brand_restricted']),
        scope: 'inbox:write',
        params: idParams,
        response: movedShape,
      },
    )
    .get(
      '/v1/inbox/:id/attachments/:attachmentId',
      async ({ caller, params }) => fileAnswer(await downloadAttachment(use, caller, params.id, params.attachmentId)),
      {
        detail: {
          ...says('getAttachment', 'Download an attachment', [
            'not_found',
            'brand_restricted',
            'attachment_infected',
            'attachment_unscanned',
          ]),
          ...saysFile('application/octet-stream'),
        },
        scope: 'inbox:read',
        params: attachmentParams,
      },
    )
    .get('/v1/inbox/:id/raw', async ({ caller, params }) => fileAnswer(await downloadMessage(use, caller, params.id)), {
      detail: {
        ...says('getRawMessage', 'Download a message as it came', [
          'not_found',
          'brand_restricted',
          'attachment_infected',
          'attachment_unscanned',
        ]),
        ...saysFile('message/rfc822'),
      },
      scope: 'inbox:read',
      params: idParams,
    })
    .post(
      '/v1/inbox/:id/folder',
      ({ caller, params, body, reservation }) => moveMessage(db, caller, params.id, body.folder, reservation),
      {
        detail: says('moveMessage', 'Move a message to a folder', ['not_found', 'brand_restricted']),
        scope: 'inbox:write',
        params: idParams,
        body: folderBody,
        response: movedShape,
      },
    )
    .post(
      '/v1/inbox/:id/star',
      ({ caller, params, body, reservation }) => starMessage(db, caller, params.id, body.starred, reservation),
      {
        detail: says('starMessage', 'Star a message, or not', ['not_found', 'brand_restricted']),
        scope: 'inbox:write',
        params: idParams,
        body: starBody,
        response: starredShape,
      },
    )
    .post(
      '/v1/inbox/:id/read',
      ({ caller, params, body, reservation }) => markMessage(db, caller, params.id, body.read, reservation),
      {
        detail: says('markMessage', 'Mark a message read, or unread', ['not_found', 'brand_restricted']),
        scope: 'inbox:write',
        params: idParams,
        body: readBody,
        response: markedShape,
      },
    )
    .post('/v1/inbox/bulk', ({ caller, body, reservation }) => changeMessages(db, caller, body, reservation), {
      detail: says('changeMessages', 'Move, star or mark many messages'),
      scope: 'inbox:write',
      body: bulkBody,
      response: bulkShape,
    })
    .post(
      '/v1/inbox/:id/restore',
      ({ caller, params, reservation }) => restoreMessage(db, caller, params.id, reservation),
      {
        detail: says('restoreMessage', 'Take a message out of the trash', [
          'not_found',
          'brand_restricted',
          'not_in_trash',
        ]),
        scope: 'inbox:write',
        params: idParams,
        response: movedShape,
      },
    )
}
