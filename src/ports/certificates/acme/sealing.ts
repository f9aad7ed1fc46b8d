import { type Db, inTransaction } from '../../../base/database/database.ts'
import type { Secrets } from '../../../base/secrets/secrets.ts'
import { lockKeysNotSealedBy, updateSealedKey } from './table.ts'

/** Where a sealed key stands: none can be put in another's place. */
export const certificateKeyContext = (name: string) => `certificate ${name}`
export const accountKeyContext = (directory: string) => `acme account ${directory}`

const atOnce = 100

/** Seals what is not sealed with the first secret key, as the DKIM keys are; several processes may do it at once. */
export async function sealCertificateKeys(db: Db, secrets: Secrets): Promise<void> {
  for (let some = atOnce; some >= atOnce; )
    some = await inTransaction(db, async tx => {
      const rows = await lockKeysNotSealedBy(tx, secrets.id, atOnce)
      for (const row of rows) {
        const place = row.table === 'certificates' ? certificateKeyContext(row.key) : accountKeyContext(row.key)
        await updateSealedKey(tx, row, secrets.seal(secrets.open(row.sealed, place), place))
      }
      return rows.length
    })
}
