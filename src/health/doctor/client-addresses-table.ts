import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'

/** How many of the latest messages are looked at. */
export const maxRecentMessages = 200

/** The client that a message came from. */
export interface RecentClient {
  readonly remote_ip: string
  readonly received_at: Instant
}

/** The SMTP clients of the latest messages, at most so many. */
export async function selectRecentClients(db: Db, most: number): Promise<readonly RecentClient[]> {
  // Ids sort by time, and are the primary key.
  return await db
    .selectFrom('messages')
    .select(['remote_ip', 'received_at'])
    .orderBy('id', 'desc')
    .limit(sql.lit(most))
    .execute()
}
