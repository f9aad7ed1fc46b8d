import type { Db } from '../base/database/database.ts'
import { type Id, newSortableToken, stableToken } from '../base/ids.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import { canonicalDomain } from '../mail/address.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import { evaluateAnswer, type RecordCheck } from './dns/check-record.ts'
import type { ExpectedRecord } from './dns/records.ts'
import { type DomainRow, updateDomain } from './table.ts'

/** Leaves room for the longest name that is published below a domain: `<selector>._domainkey.`. */
const maxDomainBytes = 253 - 32

/** The prefix of every value that proves ownership. */
export const ownershipPrefix = 'mailroom-ownership='

/** The TXT record with which whoever controls `domain` allows this organization to use it. */
export function ownershipRecord(organizationId: Id<'org'>, domain: string): ExpectedRecord {
  return {
    purpose: 'ownership',
    type: 'TXT',
    name: `_mailroom.${domain}`,
    value: `${ownershipPrefix}${stableToken(`ownership of ${domain} by ${organizationId}`)}`,
    priority: null,
    required: true,
  }
}

/** What DNS shows at this moment of an organization's ownership record. */
export interface OwnershipCheck extends RecordCheck {
  readonly record: ExpectedRecord
  /** The value was found, but it comes from a wildcard (RFC 4592): the record itself does not exist. */
  readonly isWildcard?: true
}

/**
 * Looks the ownership record up, past every cache. Only a record of exactly that name counts: someone who may publish a
 * wildcard could otherwise answer for the name, and keep the domain after its owner removed the record. So a random sibling
 * name is looked up at the same time: a wildcard answers for both (RFC 4592).
 */
export async function checkOwnership(
  resolver: Resolver,
  organizationId: Id<'org'>,
  domain: string,
): Promise<OwnershipCheck> {
  const record = ownershipRecord(organizationId, domain)
  const sibling = `${newSortableToken()}.${domain}`
  const lookup = async (name: string) => evaluateAnswer(record, await resolver.resolve(name, 'TXT', { forProof: true }))
  const [check, siblingCheck] = await Promise.all([lookup(record.name), lookup(sibling)])
  if (check.status !== 'verified') return { record, ...check }
  switch (siblingCheck.status) {
    case 'unknown':
      return { record, ...siblingCheck }
    case 'verified':
      return { record, ...(await distinguishFromWildcard(resolver, check, record.name, sibling)) }
    default:
      return { record, ...check }
  }
}

/**
 * Both names have the value. The ownership record exists on its own only if the sibling gets the value through a wildcard
 * CNAME and the name itself does not; otherwise they cannot be told apart.
 */
async function distinguishFromWildcard(
  resolver: Resolver,
  check: RecordCheck,
  name: string,
  sibling: string,
): Promise<Omit<OwnershipCheck, 'record'>> {
  const lookup = (owner: string) => resolver.resolve(owner, 'CNAME', { forProof: true })
  const [alias, wildcard] = await Promise.all([lookup(name), lookup(sibling)])
  if (alias.kind === 'failed' || wildcard.kind === 'failed')
    return {
      status: 'unknown',
      found: [],
      failure: 'It could not be determined whether the value comes from a wildcard record.',
    }
  const isOwn = wildcard.kind === 'found' && !(alias.kind === 'found' && alias.records[0] === wildcard.records[0])
  return isOwn ? check : { status: 'pending', found: [], isWildcard: true }
}

/**
 * Stores what a look-up of the ownership record showed; a failed one changes nothing. It stops no mail: only operations that
 * need the record are refused without it.
 */
export async function storeOwnership(
  { db }: { readonly db: Db },
  { id }: Pick<DomainRow, 'id'>,
  { status }: Pick<OwnershipCheck, 'status'>,
): Promise<void> {
  if (status !== 'unknown') await updateDomain(db, id, { ownership_verified: status === 'verified' ? 1 : 0 })
}

/**
 * Requires that DNS shows the ownership record now, and stores that it does. A refusal changes nothing.
 * @throws as {@link requireOwnership}
 */
export async function proveOwnership(
  deps: { readonly db: Db; readonly resolver: Resolver },
  domain: Pick<DomainRow, 'id' | 'organization_id' | 'domain'>,
): Promise<void> {
  const check = await checkOwnership(deps.resolver, domain.organization_id, domain.domain)
  requireOwnership(check)
  await storeOwnership(deps, domain, check)
}

/** The refusals of {@link requireOwnership}. */
export const ownershipRefusals = ['ownership_not_verified', 'dns_unavailable'] as const

/**
 * @param param the request parameter that holds the domain, when it is not the path
 * @throws Refusal `ownership_not_verified` when DNS answers without the record, `dns_unavailable` when the look-up fails: a
 * failure is never taken for an absence.
 */
export function requireOwnership(check: OwnershipCheck, param?: string): void {
  if (check.status === 'verified') return
  throw check.status === 'unknown' ? dnsUnavailable(check) : ownershipNotVerified(check, param)
}

function dnsUnavailable(check: OwnershipCheck): Refusal {
  return refuse('dns_unavailable', {
    message: `The TXT record ${check.record.name} could not be looked up; try again.`,
    reason: check.failure ?? 'The look-up failed.',
    retryAfterSeconds: 5,
  })
}

function ownershipNotVerified(check: OwnershipCheck, param: string | undefined): Refusal {
  const { record } = check
  return refuse('ownership_not_verified', {
    message: `The TXT record ${record.name} does not have the value ${record.value}.`,
    ...(param === undefined ? {} : { param }),
    reason: describeMismatch(check),
    resolution: `Publish a TXT record named ${record.name} with the value ${record.value}, keep it published, and try again.`,
  })
}

function describeMismatch({ found, isWildcard }: OwnershipCheck): string {
  if (isWildcard)
    return 'A wildcard record answers with that value, as it does for other names; the record itself does not exist.'
  return found.length === 0 ? 'No such TXT record was found.' : `Found: ${found.join(' | ')}`
}

/**
 * The domain in its canonical form: lower case, A-labels.
 * @throws Refusal `invalid_request` when it is no domain name, or too long for the names that are published below it
 */
export function parseDomain(text: string): string {
  const domain = canonicalDomain(text.replace(/\.$/, ''))
  if (domain === undefined)
    throw refuse('invalid_request', { message: `"${text.slice(0, 100)}" is not a domain name.`, param: 'domain' })
  if (domain.length > maxDomainBytes)
    throw refuse('invalid_request', {
      message: `The domain name has ${domain.length} characters; at most ${maxDomainBytes} leave room for the names below it.`,
      param: 'domain',
    })
  return domain
}
