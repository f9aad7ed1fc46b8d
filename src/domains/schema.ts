import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../api/common-schemas.ts'
import { toIso } from '../base/clock.ts'
import { fromJson } from '../base/database/schema.ts'
import {
  byPurpose,
  type ExpectedRecord,
  type InstanceDnsSettings,
  mxRecord,
  type RecordStatus,
  recordTtlSeconds,
} from './dns/records.ts'
import type { DomainRecordRow } from './dns/table.ts'
import type { ReceivingClaimRow } from './receiving-claim-table.ts'
import type { DomainRow } from './table.ts'

/** A DNS record in API responses. */
export const recordSchema = t.Object(
  {
    purpose: oneOf(['ownership', 'dkim', 'spf', 'return_path', 'dmarc', 'receiving_identity', 'mx']),
    type: oneOf(['TXT', 'CNAME', 'MX']),
    name: t.String({ description: 'Fully qualified, without a trailing dot.' }),
    value: t.String(),
    priority: nullable(t.Integer()),
    ttl: t.Integer({ description: 'Seconds.' }),
    status: oneOf(['pending', 'verified', 'mismatch', 'unknown'], {
      description: '`unknown`: the look-up failed, so nothing is known about the record.',
    }),
    found: t.Array(t.String(), { description: 'The values found at that name.' }),
    detail: t.Optional(t.String({ description: 'What is wrong with the record, if `found` does not show it.' })),
    required: t.Boolean(),
  },
  { title: 'DnsRecord' },
)
export type DnsRecordJson = typeof recordSchema.static

export const receivingSchema = t.Object(
  {
    live: t.Boolean({ description: 'The domain receives mail here.' }),
    next_step: t.Optional(oneOf(['ownership', 'identity', 'mx'], { description: 'What to set up next.' })),
    mx: t.Object({ record: recordSchema }),
    identity: t.Object({
      dns_records: t.Array(recordSchema),
      error: t.Optional(t.String({ description: 'Why a check failed.' })),
    }),
  },
  { title: 'Receiving' },
)
export type ReceivingJson = typeof receivingSchema.static

export const domainSchema = t.Object(
  {
    id: t.String(),
    domain: t.String(),
    brand_id: t.String(),
    status: oneOf(['pending', 'verified', 'failed']),
    ownership_verified: t.Boolean({
      description:
        'The ownership record was in DNS when it was last looked up. Operations that need it look it up again; without it they are refused, but mail goes on.',
    }),
    ready_to_send: t.Boolean(),
    dns_records: t.Array(recordSchema),
    provider_error: t.Optional(t.String()),
    receiving: receivingSchema,
    last_checked_at: nullable(dateTimeSchema),
    created_at: dateTimeSchema,
  },
  { title: 'DomainDetails' },
)
export type DomainJson = typeof domainSchema.static

export const removedDomainSchema = t.Object(
  {
    id: t.String(),
    domain: t.String(),
    deleted: t.Literal(true),
    provider_identity_removed: t.Literal(false),
    dns_records_removed: t.Literal(false),
    warning: t.String(),
  },
  { title: 'DomainDeleted' },
)
export type RemovedDomainJson = typeof removedDomainSchema.static

export const ownershipSchema = t.Object(
  {
    domain: t.String(),
    brand_id: t.String(),
    verified: t.Boolean(),
    checked_at: dateTimeSchema,
    ownership: t.Object({ record: recordSchema }),
  },
  { title: 'OwnershipProof' },
)
export type OwnershipJson = typeof ownershipSchema.static

export function toJsonRecord(
  record: ExpectedRecord,
  status: RecordStatus,
  found: readonly string[],
  detail: string | null = null,
): DnsRecordJson {
  const { purpose, type, name, value, priority, required } = record
  return {
    purpose,
    type,
    name,
    value,
    priority,
    ttl: recordTtlSeconds,
    status,
    found: [...found],
    ...(detail !== null && { detail }),
    required,
  }
}

export function toJsonStoredRecord(row: DomainRecordRow): DnsRecordJson {
  return toJsonRecord({ ...row, required: row.required === 1 }, row.status, fromJson(row.found), row.detail)
}

/** What determines whether a domain receives mail; null: there is no receiving claim. */
export interface ReceivingState {
  readonly ownership_verified: number
  readonly identity_verified: number | null
  readonly mx_verified: number | null
}

/**
 * The next step until a domain receives mail; undefined: it does. Once the identity is verified our SMTP server accepts the
 * domain's mail, whatever becomes of the ownership record.
 */
export function receivingNextStep(facts: ReceivingState): ReceivingJson['next_step'] {
  if (facts.identity_verified === 1) return facts.mx_verified === 1 ? undefined : 'mx'
  return facts.ownership_verified === 1 ? 'identity' : 'ownership'
}

/** @param problem why a check failed, when there is no claim in which to store it */
export function toJsonReceiving(
  domain: DomainRow,
  claim: ReceivingClaimRow | undefined,
  records: readonly DomainRecordRow[],
  instance: InstanceDnsSettings,
  problem?: string,
): ReceivingJson {
  const step = receivingNextStep({
    ownership_verified: domain.ownership_verified,
    identity_verified: claim?.identity_verified ?? null,
    mx_verified: claim?.mx_verified ?? null,
  })
  const mx = records.find(record => record.purpose === 'mx')
  const error = problem ?? claim?.identity_error ?? undefined
  return {
    live: step === undefined,
    ...(step && { next_step: step }),
    mx: { record: mx ? toJsonStoredRecord(mx) : toJsonRecord(mxRecord(domain.domain, instance), 'pending', []) },
    identity: {
      dns_records: records.filter(record => record.purpose === 'receiving_identity').map(toJsonStoredRecord),
      ...(error !== undefined && { error }),
    },
  }
}

const senderOrder: readonly string[] = ['dkim', 'spf', 'return_path', 'dmarc']

export function toJsonDomain(
  domain: DomainRow,
  records: readonly DomainRecordRow[],
  claim: ReceivingClaimRow | undefined,
  instance: InstanceDnsSettings,
): DomainJson {
  return {
    id: domain.id,
    domain: domain.domain,
    brand_id: domain.brand_id,
    status: domain.status,
    ownership_verified: domain.ownership_verified === 1,
    ready_to_send: domain.status === 'verified',
    dns_records: records
      .filter(record => senderOrder.includes(record.purpose))
      .toSorted(byPurpose)
      .map(toJsonStoredRecord),
    ...(domain.provider_error !== null && { provider_error: domain.provider_error }),
    receiving: toJsonReceiving(domain, claim, records, instance),
    last_checked_at: domain.last_checked_at && toIso(domain.last_checked_at),
    created_at: toIso(domain.created_at),
  }
}
