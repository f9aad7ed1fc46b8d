import type { Tenant } from '../../api/tenant.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** Drafts belong to the whole organization, not to a brand. */
export type DraftScope = Pick<Tenant, 'organizationId'>

/** The received messages, which are a layer below: app/ passes them in. */
export interface ReceivedMessages {
  /** Has the organization such a message? */
  has(organizationId: Id<'org'>, id: Id<'msg'>): Promise<boolean>
  /** What makes an email a reply to the message; undefined: there is no such message. */
  replyContext(organizationId: Id<'org'>, id: Id<'msg'>): Promise<ReplyContext | undefined>
}

/** What makes an email a reply. */
export interface ReplyContext {
  readonly brandId: Id<'brd'>
  readonly threadId: string
  /** In-Reply-To and References. RFC 5322 §3.6.4. */
  readonly headers: Readonly<Record<string, string>>
}

export interface DraftsDeps {
  readonly db: Db
  readonly clock: Clock
  readonly received: ReceivedMessages
}
