import type { BrandTenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { candidateLocalParts } from '../../domains/mailboxes/local-parts.ts'
import { splitAddress } from '../../mail/address.ts'
import { selectReceivingAddresses } from './own-addresses-table.ts'

/** More than the recipients that any email may have. */
const maxLookups = 200

/**
 * Those of the addresses at which the brand receives mail: by a mailbox of that name, one before a `+`, or a catch-all. Only
 * the first 200 are looked up.
 */
export async function findOwnAddresses(
  db: Db,
  brand: BrandTenant,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const lookups = addresses.slice(0, maxLookups).map(address => {
    const { localPart, domain } = splitAddress(address)
    return { address, domain, localParts: candidateLocalParts(localPart) }
  })
  const rows = await selectReceivingAddresses(db, brand, {
    domains: [...new Set(lookups.map(lookup => lookup.domain))],
    localParts: [...new Set(lookups.flatMap(lookup => lookup.localParts))],
  })
  const received = new Set(rows.map(row => `${row.local_part}@${row.domain}`))
  return new Set(
    lookups
      .filter(({ domain, localParts }) => localParts.some(localPart => received.has(`${localPart}@${domain}`)))
      .map(lookup => lookup.address),
  )
}
