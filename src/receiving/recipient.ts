import { batched } from '../base/concurrency/batch.ts'
import type { Db } from '../base/database/database.ts'
import { candidateLocalParts } from '../domains/mailboxes/local-parts.ts'
import { canonicalDomain, parseAddress, splitAddress } from '../mail/address.ts'
import type { InboundRecipient } from './incoming-message.ts'
import { type BounceAddresses, findBounceRecipient, isBounceHost } from './reports/bounce-address.ts'
import { refuseMail } from './smtp-refusal.ts'
import { type RecipientClaimRow, selectClaims } from './table.ts'

/** Local parts for which every receiving domain must accept mail (RFC 5321 §4.5.1, RFC 2142). */
const requiredLocalParts = new Set(['postmaster', 'abuse'])

interface ClaimLookup {
  readonly domain: string
  /** The local parts whose mailbox may take it, best first; the last is the catch-all's. */
  readonly localParts: readonly string[]
}

/** The claim on a domain, a row for each of its mailboxes that may take the mail. Lookups at the same time share a query. */
export type FindClaims = (lookup: ClaimLookup) => Promise<readonly RecipientClaimRow[]>

export function batchedClaimLookups(db: Db): FindClaims {
  return batched({ maxItems: 64, maxInFlight: 1 }, lookups => findClaims(db, lookups))
}

export interface RecipientDeps {
  readonly db: Db
  /** See {@link batchedClaimLookups}. */
  readonly findClaims: FindClaims
  /** Is there enough free disk space for new mail? */
  readonly hasDiskSpace: () => boolean
  /** The operator's mailbox, for mail to a postmaster where there is no such mailbox. */
  readonly postmaster?: string | undefined
  /** Where reports of what we sent come to; undefined: to mailboxes only. */
  readonly bounces?: BounceAddresses | undefined
}

/**
 * Finds the recipient for a forward-path. A bounce address of ours comes first; then an exact mailbox, one before a `+`, and
 * the catch-all; local parts compare without case. Mail for a postmaster or abuse address that has no mailbox goes to the
 * operator's, also at the names of our bounce addresses (RFC 5321 §4.5.1).
 * @throws SmtpRefusal disk_full, address_malformed, relay_denied, receiving_not_ready, mailbox_unknown
 */
export async function findRecipient(address: string, deps: RecipientDeps): Promise<InboundRecipient> {
  if (!deps.hasDiskSpace()) throw refuseMail('disk_full')
  const isBarePostmaster = address.toLowerCase() === 'postmaster'
  const recipient = isBarePostmaster ? undefined : await findAddress(address, deps)
  if (recipient) return recipient
  const isForOperator = isBarePostmaster || hasRequiredLocalPart(address)
  if (deps.postmaster === undefined || !isForOperator) throw refuseMail('mailbox_unknown')
  const operator = await findAddress(deps.postmaster, deps)
  if (!operator) throw refuseMail('mailbox_unknown')
  return { ...operator, address }
}

/** Undefined: the domain receives mail here, and has no mailbox for this address. */
async function findAddress(
  address: string,
  { db, findClaims, bounces }: RecipientDeps,
): Promise<InboundRecipient | undefined> {
  const path = readForwardPath(address)
  const { localPart, domain, canonical } = path
  const bounceRecipient = bounces && (await findBounceRecipient(db, bounces, path))
  if (bounceRecipient) return bounceRecipient
  const localParts = candidateLocalParts(localPart)
  const rows = await findClaims({ domain, localParts })
  const [claim] = rows
  if (!claim) {
    if (bounces && requiredLocalParts.has(localPart.toLowerCase()) && (await isBounceHost(db, bounces, domain)))
      return undefined
    throw refuseMail('relay_denied', { detail: `Relaying is denied: ${domain} does not receive mail here` })
  }
  if (!claim.identity_verified) throw refuseMail('receiving_not_ready')
  const mailbox = localParts.map(part => rows.find(row => row.local_part === part)).find(row => row !== undefined)
  if (!mailbox?.mailbox_id || !mailbox.brand_id) return undefined
  return {
    address: canonical,
    organizationId: claim.organization_id,
    brandId: mailbox.brand_id,
    domainId: claim.domain_id,
    mailboxId: mailbox.mailbox_id,
    ...(claim.has_listings === 1 && { hasListings: true }),
  }
}

function hasRequiredLocalPart(address: string): boolean {
  return requiredLocalParts.has(address.slice(0, address.lastIndexOf('@')).toLowerCase())
}

function readForwardPath(address: string) {
  const parsed = parseAddress(address)
  if (parsed?.name === '' && !address.endsWith('>'))
    return { ...splitAddress(parsed.address), canonical: parsed.address }
  // RFC 6531: a local part beyond ASCII, which only a catch-all can take.
  const at = address.lastIndexOf('@')
  const localPart = address.slice(0, Math.max(at, 0))
  const domain = canonicalDomain(address.slice(at + 1))
  const isInternational = /[\u0080-\u{10ffff}]/u.test(localPart) && !/[\p{Cc}\s"(),:;<>@[\\\]]/u.test(localPart)
  if (!domain || !isInternational || Buffer.byteLength(localPart) > 64) throw refuseMail('address_malformed')
  return { localPart, domain, canonical: `${localPart}@${domain}` }
}

async function findClaims(db: Db, lookups: readonly ClaimLookup[]): Promise<readonly (readonly RecipientClaimRow[])[]> {
  const domains = [...new Set(lookups.map(lookup => lookup.domain))]
  const localParts = [...new Set(lookups.flatMap(lookup => lookup.localParts))]
  const byDomain = Map.groupBy(await selectClaims(db, domains, localParts), row => row.domain)
  return lookups.map(lookup => byDomain.get(lookup.domain) ?? [])
}
