import { type Id, stableToken } from '../base/ids.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import { canonicalDomain } from '../mail/address.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import type { PublishedRecord } from './records.ts'
import { type Judgement, judge } from './verification.ts'

/** Room for the longest name that is published below a domain: `<selector>._domainkey.`. */
const maxDomainBytes = 253 - 32

/** How every value that proves ownership starts. */
export const ownershipPrefix = 'mailroom-ownership='

/** The TXT record by which whoever controls `domain` says that this organization may use it. */
export function ownershipRecord(organizationId: Id<'org'>, domain: string): PublishedRecord {
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
export interface Proof extends Judgement {
  readonly record: PublishedRecord
}

/** Looks the ownership record up, past every cache. */
export async function proveOwnership(resolver: Resolver, organizationId: Id<'org'>, domain: string): Promise<Proof> {
  const record = ownershipRecord(organizationId, domain)
  return { record, ...judge(record, await resolver.resolve(record.name, 'TXT', { forProof: true })) }
}

/**
 * @param param the parameter that named the domain, where that is not the path
 * @throws Refusal `ownership_not_verified` when DNS says that the record is not there, `dns_unavailable` when DNS does
 * not say: a failure is never taken for an absence.
 */
export function requireProof(proof: Proof, param?: string): void {
  if (proof.status === 'verified') return
  throw proof.status === 'unknown' ? dnsUnavailable(proof) : notProven(proof, param)
}

function dnsUnavailable(proof: Proof): Refusal {
  return refuse('dns_unavailable', {
    message: `The TXT record ${proof.record.name} could not be looked up; try again.`,
    reason: proof.failure ?? 'The look-up failed.',
    retryAfterSeconds: 5,
  })
}

function notProven({ record, found }: Proof, param: string | undefined): Refusal {
  return refuse('ownership_not_verified', {
    message: `The TXT record ${record.name} does not hold ${record.value}.`,
    ...(param === undefined ? {} : { param }),
    reason: found.length === 0 ? 'No such TXT record was found.' : `Found: ${found.join(' | ')}`,
    resolution: `Publish a TXT record named ${record.name} with the value ${record.value}, keep it, and try again.`,
  })
}

/**
 * The domain in its canonical form, a lower-case A-label.
 * @throws Refusal `invalid_request` when it is no domain, or too long for the names that are published below it.
 */
export function readDomain(text: string): string {
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
