import type { Tenant } from '../../api/tenant.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type Address, splitAddress } from '../../mail/address.ts'
import type { SendingDomain } from './table.ts'

/** Who sends: a key's organization, and the one brand that the key is restricted to. */
export interface AuthorizedSender extends Tenant {
  /** null: not by a key. */
  readonly keyId: Id<'key'> | null
}

/** Looks up a domain by its exact name in an organization. */
export type FindDomain = (name: {
  readonly organizationId: Id<'org'>
  readonly domain: string
}) => Promise<SendingDomain | undefined>

/** The refusals of {@link resolveFrom}. */
export const fromRefusals = ['domain_not_verified', 'from_not_allowed'] as const

/**
 * The registered domain, and with it the brand, that an email is from: From's domain, exactly.
 * @throws domain_not_verified when the organization has no such domain, from_not_allowed when it is of another brand than
 * the key's.
 */
export async function resolveFrom(
  from: Address,
  sender: AuthorizedSender,
  findDomain: FindDomain,
): Promise<SendingDomain> {
  const { domain } = splitAddress(from.address)
  const found = await findDomain({ organizationId: sender.organizationId, domain })
  if (!found)
    throw refuse('domain_not_verified', {
      message: `from: ${domain} is not a registered domain; register it and publish its records first.`,
      param: 'from',
    })
  if (sender.brandId !== null && sender.brandId !== found.brandId)
    throw refuse('from_not_allowed', {
      message: `from: ${domain} belongs to another brand than the one this API key is restricted to.`,
      param: 'from',
    })
  return found
}
