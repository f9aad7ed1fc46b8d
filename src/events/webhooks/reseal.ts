import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { openWebhook, sealWebhook } from './secrets.ts'
import { lockWebhooksNotSealedBy, updateWebhook } from './table.ts'

const batchSize = 100

/** Seals the secrets of all webhooks with the current (first) secret key. Several processes may do it at once. */
export async function resealWebhooks(db: Db, secrets: Secrets): Promise<void> {
  for (let count = batchSize; count === batchSize; )
    count = await inTransaction(db, async tx => {
      const rows = await lockWebhooksNotSealedBy(tx, secrets.id, batchSize)
      for (const row of rows) await updateWebhook(tx, row.id, sealWebhook(row.id, secrets, openWebhook(row, secrets)))
      return rows.length
    })
}
