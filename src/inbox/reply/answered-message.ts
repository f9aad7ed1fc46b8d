import type { Received } from '../../sending/drafts/deps.ts'
import { outlineStored } from '../messages/stored-message.ts'
import { selectMessage } from '../messages/table.ts'
import { replyHeaders } from './headers.ts'
import { type AnswerUse, threadedBy } from './reply-sender.ts'

/** What drafts are told of the messages that they answer. */
export function receivedMessages(use: Pick<AnswerUse, 'db' | 'blobs' | 'texts'>): Received {
  return {
    has: async (organizationId, id) => (await selectMessage(use.db, organizationId, id)) !== undefined,
    async answering(organizationId, id) {
      const message = await selectMessage(use.db, organizationId, id)
      if (!message) return undefined
      const headers = replyHeaders(threadedBy(message, await outlineStored(use, message)))
      return { brandId: message.brand_id, threadId: message.thread_id, headers }
    },
  }
}
