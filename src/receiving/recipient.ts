import { batched } from '../base/concurrency/batch.ts'
import type { Db } from '../base/database/database.ts'
import { candidateLocalParts } from '../domains/mailboxes/local-parts.ts'
import { canonicalDomain, parseAddress, splitAddress } from '../mail/address.ts'
import type { InboundRecipient } from './incoming-message.ts'
import { type BounceAddresses, findBounceRecipient, isBounceHost } from './reports/bounce-address.ts'
import { refuseMail } from './smtp-refusal.ts'
import { type RecipientClaimRow, selectClaims } from './table.ts'

/** Local parts that every domain that receives must take (RFC 5321 §4.5.1, RFC 2142). */
const requiredLocalParts = new Set(['postmaster', 'abuse'])

interface ClaimLookup {
  readonly domain: string
  /** The local parts whose mailbox may take it, best first; the last is the catch-all's. */
  readonly localParts: readonly string[]
}

/**
 * Finds the recipient for a forward-path. An exact mailbox beats the one before a `+`, and that the catch-all; local parts
 * compare without case. What is meant for a postmaster and finds none goes to the mailbox `postmaster`, the operator's: also
 * at the names that reports come to, where there are no mailboxes (RFC 5321 §4.5.1).
 * A bounce address of ours comes before all of them. Look-ups that come together share a round trip.
 * @throws SmtpRefusal address_malformed, relay_denied, receiving_not_ready, mailbox_unknown
 */
export function recipientFinder(
  db: Db,
  postmaster: string | undefined,
  bounces?: BounceAddresses,
): (address: string) => Promise<InboundRecipient> {
  const claims = batched<ClaimLookup, readonly RecipientClaimRow[]>({ maxItems: 64, maxInFlight: 1 }, wanted =>
    findClaims(db, wanted),
  )

  async function find(address: string): Promise<InboundRecipient | undefined> {
    const path = readForwardPath(address)
    const { localPart, domain, canonical } = path
    const bounced = bounces && (await findBounceRecipient(db, bounces, path))
    if (bounced) return bounced
    const localParts = candidateLocalParts(localPart)
    const rows = await claims({ domain, localParts })
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
    }
  }

  return async address => {
    const isBare = address.toLowerCase() === 'postmaster'
    const found = isBare ? undefined : await find(address)
    if (found) return found
    if (postmaster === undefined || !(isBare || hasRequiredLocalPart(address))) throw refuseMail('mailbox_unknown')
    const operators = await find(postmaster)
    if (!operators) throw refuseMail('mailbox_unknown')
    return { ...operators, address }
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

async function findClaims(db: Db, wanted: readonly ClaimLookup[]): Promise<readonly (readonly RecipientClaimRow[])[]> {
  const domains = [...new Set(wanted.map(claimLookup => claimLookup.domain))]
  const localParts = [...new Set(wanted.flatMap(claimLookup => claimLookup.localParts))]
  const byDomain = Map.groupBy(await selectClaims(db, domains, localParts), row => row.domain)
  return wanted.map(claimLookup => byDomain.get(claimLookup.domain) ?? [])
}
