import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { deleteRetiredSecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import { openPrivateKey, sealContext } from './keys.ts'
import { lockDkimKeysNotSealedBy, updateDkimKeySeal } from './table.ts'

const atOnce = 100

/**
 * Seals the DKIM keys that are not sealed with the first secret key: those from before there was one, and those of an
 * older one, which is forgotten then. Several processes may do it at once.
 */
export async function resealDkimKeys(db: Db, secrets: Secrets, log: Log): Promise<void> {
  let sealed = 0
  for (let some = atOnce; some === atOnce; sealed += some)
    some = await inTransaction(db, async tx => {
      const rows = await lockDkimKeysNotSealedBy(tx, secrets.id, atOnce)
      for (const row of rows)
        await updateDkimKeySeal(tx, row, secrets.seal(openPrivateKey(row, secrets), sealContext(row)))
      return rows.length
    })
  await deleteRetiredSecretKeys(db, secrets)
  if (sealed > 0) log.info({ keys: sealed, secret_key: secrets.id }, 'sealed DKIM keys')
}
