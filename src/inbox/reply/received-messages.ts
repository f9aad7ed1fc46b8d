import type { ReceivedMessages } from '../../sending/drafts/deps.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import { selectMessage } from '../messages/table.ts'
import { replyHeaders } from './headers.ts'
import { type ReplyDeps, threadHeadersOf } from './reply-sender.ts'

/** Lets drafts look up the messages that they reply to. */
export function receivedMessages(deps: Pick<ReplyDeps, 'db' | 'blobs' | 'texts'>): ReceivedMessages {
  return {
    has: async (organizationId, id) => (await selectMessage(deps.db, organizationId, id)) !== undefined,
    async replyContext(organizationId, id) {
      const message = await selectMessage(deps.db, organizationId, id)
      if (!message) return undefined
      const headers = replyHeaders(threadHeadersOf(message, await readStoredSummary(deps, message)))
      return { brandId: message.brand_id, threadId: message.thread_id, headers }
    },
  }
}
