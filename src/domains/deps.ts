import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import type { DnsProvider } from '../ports/dns-zone/port.ts'
import type { ProviderIdentities } from '../ports/provider/port.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import type { InstanceDnsSettings } from './dns/records.ts'

/** What prevents the deletion of a domain, each in a few words (`3 queued emails`); empty: nothing. */
export type DomainBlockers = (db: Db, domainId: Id<'dom'>) => Promise<readonly string[]>

export interface DomainDeps {
  readonly db: Db
  readonly clock: Clock
  readonly resolver: Resolver
  /** Where DNS records can be published; null: nowhere. */
  readonly dnsProvider: DnsProvider | null
  readonly instance: InstanceDnsSettings
  /** Where domains must be enrolled before the provider accepts their mail; absent: it needs no enrolment. */
  readonly identities?: ProviderIdentities | undefined
  /** Seals the DKIM private keys. */
  readonly secrets: Secrets
}
