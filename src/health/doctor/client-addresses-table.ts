import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'

/** How many of the messages that came last are looked at. */
export const maxRecentMessages = 200

/** Where a message came from. */
export interface RecentClient {
  readonly remote_ip: string
  readonly received_at: Instant
}

/** The SMTP clients of the `most` messages that came last. */
export async function selectRecentClients(db: Db, most: number): Promise<readonly RecentClient[]> {
  // Ids sort as they were made, and are the primary key.
  return await db
    .selectFrom('messages')
    .select(['remote_ip', 'received_at'])
    .orderBy('id', 'desc')
    .limit(sql.lit(most))
    .execute()
}
