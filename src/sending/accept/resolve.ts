import type { Id } from '../../base/ids.ts'
import { type Address, splitAddress } from '../../mail/address.ts'
import { checkFrom } from './checks.ts'
import type { AuthorizedSender } from './sender.ts'
import type { SendingDomain } from './table.ts'

/** Looks up a domain by its exact name in an organization; undefined: it has no such domain. */
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
  const { domain: domainName } = splitAddress(from.address)
  const domain = await findDomain({ organizationId: sender.organizationId, domain: domainName })
  const refusal = checkFrom({ domainName, domain, sender })
  if (refusal) throw refusal
  if (!domain) throw new Error('From’s domain passed the checks without being registered')
  return domain
}
