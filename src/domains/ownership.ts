import { type Id, newSortableToken, stableToken } from '../base/ids.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import { canonicalDomain } from '../mail/address.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import { evaluateAnswer, type RecordCheck } from './dns/check-record.ts'
import type { ExpectedRecord } from './dns/records.ts'

/** Room for the longest name that is published below a domain: `<selector>._domainkey.`. */
const maxDomainBytes = 253 - 32

/** How every value that proves ownership starts. */
export const ownershipPrefix = 'mailroom-ownership='

/** The TXT record by which whoever controls `domain` says that this organization may use it. */
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

/** What DNS says at this moment of an organization's right to a domain. */
export interface OwnershipCheck extends RecordCheck {
  readonly record: ExpectedRecord
  /** The value was found, but a wildcard answered with it (RFC 4592), so that the record itself is not there. */
  readonly isWildcard?: true
}

/**
 * Looks the ownership record up, past every cache. Only a record of that very name counts: whoever may publish a wildcard
 * could lead the name to a value of their own, and keep the domain after its owner took the record away. So a name beside
 * it, which nobody can foresee, is asked for at the same time: a wildcard answers for both (RFC 4592).
 */
export async function checkOwnership(
  resolver: Resolver,
  organizationId: Id<'org'>,
  domain: string,
): Promise<OwnershipCheck> {
  const record = ownershipRecord(organizationId, domain)
  const beside = `${newSortableToken()}.${domain}`
  const ask = async (name: string) => evaluateAnswer(record, await resolver.resolve(name, 'TXT', { forProof: true }))
  const [proof, other] = await Promise.all([ask(record.name), ask(beside)])
  if (proof.status !== 'verified') return { record, ...proof }
  switch (other.status) {
    case 'unknown':
      return { record, ...other }
    case 'verified':
      return { record, ...(await proveBesideWildcard(resolver, proof, record.name, beside)) }
    default:
      return { record, ...proof }
  }
}

/** Is the name, which has the value of a wildcard, led there by something of its own? Only of CNAMEs that can be told. */
async function proveBesideWildcard(
  resolver: Resolver,
  proof: RecordCheck,
  name: string,
  beside: string,
): Promise<Omit<OwnershipCheck, 'record'>> {
  const ask = (value: string) => resolver.resolve(value, 'CNAME', { forProof: true })
  const [alias, wildcard] = await Promise.all([ask(name), ask(beside)])
  if (alias.kind === 'failed' || wildcard.kind === 'failed')
    return { status: 'unknown', found: [], failure: 'Whether a wildcard answers could not be looked up.' }
  const isOwn = wildcard.kind === 'found' && !(alias.kind === 'found' && alias.records[0] === wildcard.records[0])
  return isOwn ? proof : { status: 'pending', found: [], isWildcard: true }
}

/** The refusals of {@link requireOwnership}. */
export const ownershipRefusals = ['ownership_not_verified', 'dns_unavailable'] as const

/**
 * @param param the parameter that named the domain, where that is not the path
 * @throws Refusal `ownership_not_verified` when DNS says that the record is not there, `dns_unavailable` when DNS does
 * not say: a failure is never taken for an absence.
 */
export function requireOwnership(proof: OwnershipCheck, param?: string): void {
  if (proof.status === 'verified') return
  throw proof.status === 'unknown' ? dnsUnavailable(proof) : notProven(proof, param)
}

function dnsUnavailable(proof: OwnershipCheck): Refusal {
  return refuse('dns_unavailable', {
    message: `The TXT record ${proof.record.name} could not be looked up; try again.`,
    reason: proof.failure ?? 'The look-up failed.',
    retryAfterSeconds: 5,
  })
}

function notProven(proof: OwnershipCheck, param: string | undefined): Refusal {
  const { record } = proof
  return refuse('ownership_not_verified', {
    message: `The TXT record ${record.name} does not hold ${record.value}.`,
    ...(param === undefined ? {} : { param }),
    reason: whyNotProven(proof),
    resolution: `Publish a TXT record named ${record.name} with the value ${record.value}, keep it, and try again.`,
  })
}

function whyNotProven({ found, isWildcard }: OwnershipCheck): string {
  if (isWildcard)
    return 'A wildcard answers with that value, as it does for other names; the record itself is not there.'
  return found.length === 0 ? 'No such TXT record was found.' : `Found: ${found.join(' | ')}`
}

/**
 * The domain in its canonical form, a lower-case A-label.
 * @throws Refusal `invalid_request` when it is no domain, or too long for the names that are published below it.
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
