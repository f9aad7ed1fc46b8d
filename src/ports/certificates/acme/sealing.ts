import { type Db, inTransaction } from '../../../base/database/database.ts'
import type { Secrets } from '../../../base/secrets/secrets.ts'
import { lockKeysNotSealedBy, updateSealedKey } from './table.ts'

/** What a sealed key is bound to: it cannot be opened as the key of another name or account. */
export const certificateKeyContext = (name: string) => `certificate ${name}`
export const accountKeyContext = (directory: string) => `acme account ${directory}`

const batchSize = 100

/** Seals all keys with the first secret key that are sealed with another one. Several processes may do it at once. */
export async function sealCertificateKeys(db: Db, secrets: Secrets): Promise<void> {
  for (let resealed = batchSize; resealed >= batchSize; )
    resealed = await inTransaction(db, async tx => {
      const rows = await lockKeysNotSealedBy(tx, secrets.id, batchSize)
      for (const row of rows) {
        const context = row.table === 'certificates' ? certificateKeyContext(row.key) : accountKeyContext(row.key)
        await updateSealedKey(tx, row, secrets.seal(secrets.open(row.sealed, context), context))
      }
      return rows.length
    })
}
