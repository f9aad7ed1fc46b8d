import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import type { Id } from '../../base/ids.ts'
import { type DnsRecordJson, recordSchema, toJsonRecord, toJsonStoredRecord } from '../schema.ts'
import type { DomainRecordRow } from '../table.ts'
import type { PublishResult } from './publish.ts'
import type { ExpectedRecord } from './records.ts'

const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const

export const managedRecordSchema = t.Object(
  {
    id: t.String(),
    type: oneOf(recordTypes),
    name: t.String({ description: 'Fully qualified, without a final dot.' }),
    value: t.String(),
    ttl: t.Integer({ description: 'Seconds.' }),
    priority: nullable(t.Integer({ description: 'Of MX only.' })),
    managed_by: oneOf(['mailroom', 'user'], {
      description: '`mailroom`: published for a registered domain, and not to be changed by hand.',
    }),
    created_at: nullable(dateTimeSchema),
    updated_at: nullable(dateTimeSchema),
  },
  { title: 'ManagedRecord' },
)
export type ManagedRecordJson = typeof managedRecordSchema.static

const name = t.String({
  minLength: 1,
  maxLength: 255,
  description: 'Relative to the domain (`www`, `@` for the domain itself) or in full.',
})
const value = t.String({
  minLength: 1,
  maxLength: 4096,
  description: 'An address, a full name (CNAME, MX), or text in one piece without quotes (TXT).',
})
const seconds = { minimum: 60, maximum: 86_400, description: 'How long resolvers may keep it, in seconds.' }
const priority = t.Integer({ minimum: 0, maximum: 65_535, description: 'Required for MX; no other type has one.' })

export const newRecordSchema = t.Object({
  type: oneOf(recordTypes),
  name,
  value,
  ttl: t.Optional(t.Integer({ ...seconds, default: 300 })),
  priority: t.Optional(priority),
})

export const recordChangeSchema = t.Object({
  name: t.Optional(name),
  value: t.Optional(value),
  ttl: t.Optional(t.Integer(seconds)),
  priority: t.Optional(nullable(priority)),
})

export const dnsSetupSchema = t.Object(
  {
    domain_id: t.String(),
    ownership: t.Object({ verified: t.Boolean(), record: recordSchema, checked_at: dateTimeSchema }),
    dns_provider: t.Object({
      configured: t.Boolean(),
      name: nullable(t.String()),
      zone: nullable(
        t.String({ description: 'The zone that holds the domain; null: none that this server may change.' }),
      ),
    }),
    records: t.Array(recordSchema),
  },
  { title: 'DnsSetup' },
)
export type DnsSetupJson = typeof dnsSetupSchema.static

export const publicationSchema = t.Object(
  {
    domain_id: t.String(),
    published: t.Array(recordSchema),
    unchanged: t.Array(recordSchema),
    conflicts: t.Array(
      t.Object({
        record: recordSchema,
        existing: t.Array(
          t.Object({
            type: oneOf(recordTypes),
            name: t.String(),
            value: t.String(),
            ttl: t.Integer(),
            priority: nullable(t.Integer()),
          }),
          { description: 'What stands there and was not published by Mailroom; it is never overwritten.' },
        ),
        reason: t.String(),
      }),
    ),
  },
  { title: 'PublishDns' },
)
export type PublicationJson = typeof publicationSchema.static

/** @param rows the domain's stored records after publishing */
export function toJsonPublication(
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
