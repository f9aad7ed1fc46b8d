import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { deleteRetiredSecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { openPrivateKey, sealContext } from './keys.ts'
import { lockDkimKeysNotSealedBy, updateDkimKeySeal } from './table.ts'

const batchSize = 100

/**
 * Seals all DKIM keys that are not sealed with the current (first) secret key: unsealed ones and those sealed with an older
 * secret key, which is then no longer needed. Several processes may do it at once.
 */
export async function resealDkimKeys(db: Db, secrets: Secrets, log: Log): Promise<void> {
  let sealed = 0
  for (let count = batchSize; count === batchSize; sealed += count)
    count = await inTransaction(db, async tx => {
      const rows = await lockDkimKeysNotSealedBy(tx, secrets.id, batchSize)
      for (const row of rows)
        await updateDkimKeySeal(tx, row, secrets.seal(openPrivateKey(row, secrets), sealContext(row)))
      return rows.length
    })
  await deleteRetiredSecretKeys(db, secrets)
  if (sealed > 0) log.info({ keys: sealed, secret_key: secrets.id }, 'sealed DKIM keys')
}
