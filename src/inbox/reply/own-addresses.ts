import type { BrandTenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { candidateLocalParts } from '../../domains/mailboxes/local-parts.ts'
import { splitAddress } from '../../mail/address.ts'
import { selectReceivingAddresses } from './own-addresses-table.ts'

/** More than any email may go to. */
const maxLookedUp = 200

/**
 * Those of the addresses at which the brand receives: by a mailbox of that name, one before a `+`, or a catch-all. Only the
 * first 200 are looked up.
 */
export async function findOwnAddresses(
  db: Db,
  owner: BrandTenant,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const asked = addresses.slice(0, maxLookedUp).map(address => {
    const { localPart, domain } = splitAddress(address)
    return { address, domain, localParts: candidateLocalParts(localPart) }
  })
  const rows = await selectReceivingAddresses(db, owner, {
    domains: [...new Set(asked.map(each => each.domain))],
    localParts: [...new Set(asked.flatMap(each => each.localParts))],
  })
  const received = new Set(rows.map(row => `${row.local_part}@${row.domain}`))
  return new Set(
    asked
      .filter(({ domain, localParts }) => localParts.some(localPart => received.has(`${localPart}@${domain}`)))
      .map(each => each.address),
  )
}
