import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { ifUpdatedAtOrNullSchema } from '../../api/if-updated-at.ts'
import { recordSchema } from '../schema.ts'

const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const

export const managedRecordSchema = t.Object(
  {
    id: t.String(),
    type: oneOf(recordTypes),
    name: t.String({ description: 'Fully qualified, without a trailing dot.' }),
    value: t.String(),
    ttl: t.Integer({ description: 'Seconds.' }),
    priority: nullable(t.Integer({ description: 'MX only.' })),
    managed_by: oneOf(['mailroom', 'user'], {
      description: '`mailroom`: published by Mailroom for a registered domain, and read-only here.',
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
  description:
    'Fully qualified (`www.example.com`), or relative to the domain if it is a single label or begins with `_` or `*` (`www`, `_sip._tcp`, `*`; `@` for the domain itself).',
})
const value = t.String({
  minLength: 1,
  maxLength: 4096,
  description: 'An address (A, AAAA), a fully qualified name (CNAME, MX), or the whole text without quotes (TXT).',
})
const seconds = { minimum: 60, maximum: 86_400, description: 'TTL: how long resolvers may cache it, in seconds.' }
const priority = t.Integer({
  minimum: 0,
  maximum: 65_535,
  description: 'Required for MX, not allowed for other types.',
})

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
  if_updated_at: ifUpdatedAtOrNullSchema,
})

export const dnsSetupSchema = t.Object(
  {
    domain_id: t.String(),
    ownership: t.Object({ verified: t.Boolean(), record: recordSchema, checked_at: dateTimeSchema }),
    dns_provider: t.Object({
      configured: t.Boolean(),
      name: nullable(t.String()),
      zone: nullable(
        t.String({ description: 'The zone that holds the domain; null: this server has no access to one.' }),
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
          { description: 'The existing records that Mailroom did not publish, which it never overwrites.' },
        ),
        reason: t.String(),
      }),
    ),
  },
  { title: 'PublishDns' },
)
export type PublicationJson = typeof publicationSchema.static
