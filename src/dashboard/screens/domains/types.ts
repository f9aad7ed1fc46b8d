import type { components } from '../../api/v1.ts'

/** A domain as the API gives it. */
export type Domain = components['schemas']['DomainDetails']
/** A record that a domain needs, with what was seen of it. */
export type DnsRecord = components['schemas']['DnsRecord']
export type DnsSetup = components['schemas']['DnsSetup']
/** A record in the zone. */
export type ManagedRecord = components['schemas']['ManagedRecord']
export type Publication = components['schemas']['PublishDns']
