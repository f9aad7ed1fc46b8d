import { t } from 'elysia'
import { selectKeyName } from '../../accounts/keys/table.ts'
import { requestSchema, toJsonRequest } from '../../accounts/request-log/schema.ts'
import { selectRequestOfEmail } from '../../accounts/request-log/table.ts'
import { nullable, oneOf } from '../../api/common-schemas.ts'
import type { Tenant } from '../../api/tenant.ts'
import { hourMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { ProviderTraits } from '../../ports/provider/port.ts'
import { requireEmail } from './emails.ts'

/** Where an email came from, and what its provider says of emails that it has taken. */
export const emailOriginSchema = t.Object(
  {
    api_key: nullable(
      t.Object({ id: t.String(), name: t.String(), is_revoked: t.Boolean() }, { description: 'null: the dashboard.' }),
    ),
    request: nullable(requestSchema),
    unconfirmed_after_hours: t.Number({
      description: 'After so long without a report a `sent` recipient is unconfirmed.',
    }),
    reports: nullable(
      oneOf(['dsn', 'webhook', 'none'], {
        description: 'How the provider reports what became of an email; null: another provider sends now.',
      }),
    ),
  },
  { title: 'EmailOrigin' },
)
export type EmailOrigin = typeof emailOriginSchema.static

export interface EmailOriginDeps {
  readonly db: Db
  readonly unconfirmedMs: number
  /** The provider that sends now. */
  readonly provider: Pick<ProviderTraits, 'name' | 'reports'>
}

/** The request and the key that made an email, and what its provider reports. @throws Refusal `not_found`, `brand_restricted` */
export async function readEmailOrigin(
  { db, unconfirmedMs, provider }: EmailOriginDeps,
  tenant: Tenant,
  id: string,
): Promise<EmailOrigin> {
  const email = await requireEmail(db, tenant, id)
  const [key, request] = await Promise.all([
    email.api_key_id === null ? undefined : selectKeyName(db, email.organization_id, email.api_key_id),
    selectRequestOfEmail(db, email.organization_id, email),
  ])
  return {
    api_key: key ? { id: key.id, name: key.name, is_revoked: key.revoked_at !== null } : null,
    request: request ? toJsonRequest(request) : null,
    unconfirmed_after_hours: unconfirmedMs / hourMs,
    reports: email.provider === provider.name ? provider.reports : null,
  }
}
