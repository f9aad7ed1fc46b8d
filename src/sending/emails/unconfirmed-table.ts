import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

/** A recipient whose server took the email, with what events give out of the email. */
export interface SentRecipientRow
  extends Pick<DatabaseSchema['emails'], 'subject' | 'tags' | 'metadata' | 'organization_id' | 'brand_id' | 'message_id'>,
    Pick<DatabaseSchema['email_recipients'], 'email_id' | 'email' | 'status' | 'detail' | 'updated_at'> {
  readonly smtp_code: number | null
  readonly enhanced_code: string | null
}

/** The recipients of these emails who are `sent` since before a time. */
export async function selectSentBefore(
  db: Db,
  emailIds: readonly Id<'eml'>[],
  before: Instant,
): Promise<readonly SentRecipientRow[]> {
  if (emailIds.length === 0) return []
  const ids = padToPowerOfTwo(emailIds)
  return await selectRows<SentRecipientRow>(
    db,
    `SELECT r.email_id, r.email, r.status, r.detail, r.updated_at, r.smtp_code, r.enhanced_code,
        e.organization_id, e.brand_id, e.message_id, e.subject, e.tags, e.metadata
      FROM email_recipients r INNER JOIN emails e ON e.id = r.email_id
      WHERE r.email_id IN (${placeholders(ids)}) AND r.status = 'sent' AND r.updated_at <= ?`,
    [...ids, before],
  )
}
