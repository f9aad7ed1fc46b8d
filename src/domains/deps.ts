import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import type { DnsProvider } from '../ports/dns-zone/port.ts'
import type { ProviderIdentities } from '../ports/provider/port.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import type { InstanceDnsSettings } from './dns/records.ts'

/** What still needs a domain, each in a few words (`3 queued emails`); empty: nothing does. */
export type DomainBlockers = (db: Db, domainId: Id<'dom'>) => Promise<readonly string[]>

/** What the work on domains and mailboxes uses. */
export interface DomainDeps {
  readonly db: Db
  readonly clock: Clock
  readonly resolver: Resolver
  /** Where records are published; null: nowhere. */
  readonly zone: DnsProvider | null
  readonly instance: InstanceDnsSettings
  /** Where domains are to be known before their mail is taken; absent: nowhere. */
  readonly identities?: ProviderIdentities | undefined
  /** What seals the private keys. */
  readonly secrets: Secrets
}
