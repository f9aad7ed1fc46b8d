import type { Tenant } from '../../api/tenant.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** For whom: drafts belong to the whole organization. */
export type DraftScope = Pick<Tenant, 'organizationId'>

/** The received messages, which sending does not know by itself. */
export interface ReceivedMessages {
  /** Has the organization such a message? */
  has(organizationId: Id<'org'>, id: Id<'msg'>): Promise<boolean>
  /** What an email carries that answers the message; undefined: there is no such message. */
  replyContext(organizationId: Id<'org'>, id: Id<'msg'>): Promise<ReplyContext | undefined>
}

/** What makes an email an answer. */
export interface ReplyContext {
  readonly brandId: Id<'brd'>
  readonly threadId: string
  /** In-Reply-To and References. RFC 5322 §3.6.4. */
  readonly headers: Readonly<Record<string, string>>
}

/** What the work on drafts uses. */
export interface DraftsDeps {
  readonly db: Db
  readonly clock: Clock
  readonly received: ReceivedMessages
}
