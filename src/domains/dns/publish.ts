import type { Tenant } from '../../api/tenant.ts'
import type { Id } from '../../base/ids.ts'
import {
  DnsZoneError,
  type ExistingRecord,
  type WriteResult,
  type Zone,
  type ZoneRecord,
} from '../../ports/dns-zone/port.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { applyCheckResults, checkSenderRecords } from '../check.ts'
import type { DomainDeps } from '../deps.ts'
import { ensureSenderSetup } from '../enrolment.ts'
import { domainRefusals, loadDomain } from '../load-domain.ts'
import { ownershipRefusals, proveOwnership } from '../ownership.ts'
import { checkClaim } from '../receiving-claim.ts'
import { type DnsRecordJson, toJsonRecord, toJsonStoredRecord } from '../schema.ts'
import { type DomainRow, updateDomain } from '../table.ts'
import { compareRecord } from './check-record.ts'
import { managedMark, recordOwnerOf } from './record-owner.ts'
import { byPurpose, type ExpectedRecord, toZoneRecord } from './records.ts'
import type { PublicationJson } from './schema.ts'
import { type DomainRecordRow, selectRecords, toExpectedRecord } from './table.ts'
import { describeConflict, openZone, zoneRefusals } from './zone-access.ts'

/** The refusals of {@link publishDns}. */
export const publishDnsRefusals = [...domainRefusals, ...zoneRefusals, ...ownershipRefusals] as const

/**
 * Publishes the domain's records except MX in its zone, then checks at once what DNS shows. Repeating it changes nothing.
 * @throws Refusal `not_found`, `brand_restricted`, `dns_provider_not_configured`, `dns_zone_not_accessible`,
 * `dns_provider_error`, `ownership_not_verified`, `dns_unavailable`.
 */
export async function publishDns(deps: DomainDeps, tenant: Tenant, id: string): Promise<PublicationJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const { zone } = await openZone(deps.dnsProvider, domain.domain)
  await proveOwnership(deps, domain)
  const isEnrolled = await ensureSenderSetup(deps, domain)
  const records = (await selectRecords(deps.db, [domain.id])).toSorted(byPurpose)
  const result = await publishToZone({ zone, resolver: deps.resolver }, domain.id, records.map(toExpectedRecord))
  if (isEnrolled) await updateDomain(deps.db, domain.id, { provider_error: null })
  await applyCheckResults(deps, domain, await checkSenderRecords(deps, domain))
  await checkClaim(deps, domain)
  return toJsonPublication(domain.id, result, await selectRecords(deps.db, [domain.id]))
}

/** @param rows the domain's stored records after publishing */
function toJsonPublication(
  domainId: Id<'dom'>,
  result: PublishResult,
  rows: readonly DomainRecordRow[],
): PublicationJson {
  const toJson = (record: ExpectedRecord): DnsRecordJson => {
    const { purpose, name, type } = record
    const stored = rows.find(row => row.purpose === purpose && row.name === name && row.type === type)
    return stored ? toJsonStoredRecord(stored) : toJsonRecord(record, 'pending', [])
  }
  return {
    domain_id: domainId,
    published: result.published.map(toJson),
    unchanged: result.unchanged.map(toJson),
    conflicts: result.conflicts.map(({ record, existing, reason }) => ({
      record: toJson(record),
      existing: existing.map(({ type, name, value, ttlSeconds, priority }) => ({
        type,
        name,
        value,
        ttl: ttlSeconds,
        priority,
      })),
      reason,
    })),
  }
}

/** `skipped`: there is nothing to publish, or no zone of the DNS provider holds the domain. */
export type PublishAttempt =
  | { readonly kind: 'done' }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly reason: string }

/**
 * Publishes those of the domain's records that `isWanted` selects, except MX, if the DNS provider has a zone that holds the
 * domain. A failure of the provider is a result, not an exception.
 */
export async function publishDomainRecords(
  { db, dnsProvider, resolver }: Pick<DomainDeps, 'db' | 'dnsProvider' | 'resolver'>,
  domain: Pick<DomainRow, 'id' | 'domain'>,
  isWanted: (record: DomainRecordRow) => boolean = () => true,
): Promise<PublishAttempt> {
  if (dnsProvider === null) return { kind: 'skipped' }
  const records = (await selectRecords(db, [domain.id])).filter(isWanted)
  if (records.length === 0) return { kind: 'skipped' }
  try {
    const zone = await dnsProvider.findZone(domain.domain)
    if (zone === null) return { kind: 'skipped' }
    await publishToZone({ zone, resolver }, domain.id, records.map(toExpectedRecord))
    return { kind: 'done' }
  } catch (error) {
    if (!(error instanceof DnsZoneError)) throw error
    return {
      kind: 'failed',
      reason: `The records could not be published through ${dnsProvider.name}. ${error.message}`,
    }
  }
}

/** What became of each record. */
export interface PublishResult {
  readonly published: readonly ExpectedRecord[]
  /** These were in the zone already. */
  readonly unchanged: readonly ExpectedRecord[]
  readonly conflicts: readonly PublishConflict[]
}

/** Records that Mailroom did not publish are in the way of one of ours. They are never overwritten. */
export interface PublishConflict {
  readonly record: ExpectedRecord
  readonly existing: readonly ExistingRecord[]
  /** A sentence for a person. */
  readonly reason: string
}

type PublishOutcome =
  | { readonly kind: 'published' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly existing: readonly ExistingRecord[]; readonly reason: string }

interface PublishDeps {
  readonly zone: Zone
  /** For what SPF records in the zone include. */
  readonly resolver: Resolver
}

/**
 * Creates the domain's records that are missing in the zone and updates those that Mailroom published for it before;
 * repeating it changes nothing. MX records are left out: they redirect the domain's mail, so a person publishes them.
 * @throws DnsZoneError of the zone; what was published before it stays
 */
async function publishToZone(
  deps: PublishDeps,
  domainId: Id<'dom'>,
  records: readonly ExpectedRecord[],
): Promise<PublishResult> {
  const published: ExpectedRecord[] = []
  const unchanged: ExpectedRecord[] = []
  const conflicts: PublishConflict[] = []
  for (const record of records.filter(({ purpose }) => purpose !== 'mx')) {
    const outcome = await publishRecord(deps, domainId, record)
    switch (outcome.kind) {
      case 'published':
        published.push(record)
        break
      case 'unchanged':
        unchanged.push(record)
        break
      case 'conflict':
        conflicts.push({ record, existing: outcome.existing, reason: outcome.reason })
        break
      default:
        outcome satisfies never
    }
  }
  return { published, unchanged, conflicts }
}

async function publishRecord(deps: PublishDeps, domainId: Id<'dom'>, record: ExpectedRecord): Promise<PublishOutcome> {
  const { zone, resolver } = deps
  const zoneRecord = toZoneRecord(record)
  const mark = managedMark(domainId, zoneRecord)
  const existing = (await zone.recordsAt(record.name)).filter(({ type }) => type === record.type)
  const statusOf = async (records: readonly ZoneRecord[]) =>
    (await compareRecord(resolver, record, records.map(toValue))).status
  const status = await statusOf(existing)
  if (status === 'verified') return { kind: 'unchanged' }
  if (status === 'pending') return toOutcome(zoneRecord, await zone.create(zoneRecord, mark))
  const statuses = await Promise.all(existing.map(candidate => statusOf([candidate])))
  const concerned = existing.filter((_, i) => statuses[i] !== 'pending')
  const foreign = concerned.filter(candidate => !isPublishedFor(domainId, candidate))
  const [outdated, ...others] = concerned
  if (foreign.length > 0 || !outdated || others.length > 0)
    return {
      kind: 'conflict',
      existing: foreign,
      reason: `The existing record at ${record.name} was not published by Mailroom for this domain.`,
    }
  const written = await zone.update(outdated.id, zoneRecord, mark, outdated.updatedAt)
  // Someone was faster: whether the record may be overwritten is decided again.
  if (written?.kind === 'changed') return publishRecord(deps, domainId, record)
  return toOutcome(zoneRecord, written ?? (await zone.create(zoneRecord, mark)))
}

function toValue({ type, priority, value }: ZoneRecord): string {
  return type === 'MX' ? `${priority} ${value}` : value
}

function isPublishedFor(domainId: Id<'dom'>, record: ExistingRecord): boolean {
  const owner = recordOwnerOf(record)
  return owner.kind === 'mailroom' && owner.domainId === domainId
}

function toOutcome(record: ZoneRecord, written: WriteResult): PublishOutcome {
  switch (written.kind) {
    case 'written':
      return { kind: 'published' }
    case 'exists':
      return { kind: 'unchanged' }
    case 'conflict':
      return { kind: 'conflict', existing: written.existing, reason: describeConflict(record) }
    default:
      return written satisfies never
  }
}
