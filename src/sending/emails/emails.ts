import { loadBrand } from '../../accounts/brands/brands.ts'
import { pageSize, readBefore } from '../../api/page.ts'
import { requireBrand, requireBrandRefusals, type Tenant } from '../../api/tenant.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type EmailStatus, fromJson, toJson } from '../../base/database/schema.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { parseAddress } from '../../mail/address.ts'
import { selectRecipients } from '../events/table.ts'
import type { EmailContent, EmailDetail, EmailItem, EmailPage } from './schema.ts'
import { parseStoredEmail, type StoredContentDeps } from './stored-content.ts'
import {
  type EmailDetailRow,
  type EmailEventItemRow,
  type EmailFilter,
  type EmailItemRow,
  selectEmail,
  selectEmailEvents,
  selectEmailPage,
  selectReplyIds,
} from './table.ts'
import { recipientDetail, type UnconfirmedPolicy } from './unconfirmed.ts'

/** The query parameters of a list of emails. */
export interface EmailListQuery {
  readonly limit?: string
  readonly before?: string
  readonly status?: EmailStatus
  readonly brand_id?: string
  /** `name:value`. */
  readonly tag?: string
  readonly recipient?: string
}

/** A page of sent emails, newest first. @throws Refusal `invalid_request`, `invalid_cursor`; for `brand_id` `not_found`, `brand_restricted` */
export async function listEmails(db: Db, tenant: Tenant, query: EmailListQuery): Promise<EmailPage> {
  const filter = await readEmailFilter(db, tenant, query)
  const before = readBefore(query.before)
  const { rows, nextBefore } = await selectEmailPage(db, filter, { before, limit: pageSize(query.limit) })
  return { data: rows.map(toJsonEmailItem), next_before: nextBefore && toIso(nextBefore) }
}

/** The filter of a list, checked. @throws Refusal `invalid_request`; for `brand_id` `not_found`, `brand_restricted` */
export async function readEmailFilter(
  db: Db,
  tenant: Tenant,
  query: Pick<EmailListQuery, 'status' | 'brand_id' | 'tag' | 'recipient'>,
): Promise<EmailFilter> {
  const brandId =
    query.brand_id === undefined ? tenant.brandId : (await loadBrand(db, tenant, query.brand_id, 'brand_id')).id
  return {
    organizationId: tenant.organizationId,
    brandId,
    status: query.status ?? null,
    tag: readTag(query.tag),
    recipient: readRecipient(query.recipient),
  }
}

function readTag(tag: string | undefined) {
  if (tag === undefined) return null
  const colon = tag.indexOf(':')
  if (colon < 1)
    throw refuse('invalid_request', { message: 'tag: give a tag as name:value, such as kind:receipt.', param: 'tag' })
  return { name: tag.slice(0, colon), value: tag.slice(colon + 1) }
}

function readRecipient(recipient: string | undefined): string | null {
  if (recipient === undefined) return null
  const address = parseAddress(recipient)
  if (!address)
    throw refuse('invalid_request', { message: 'recipient: this is not an email address.', param: 'recipient' })
  return address.address
}

/** A sent email with its recipients, events and replies. @throws Refusal `not_found`, `brand_restricted` */
export async function readEmail(
  db: Db,
  tenant: Tenant,
  id: string,
  unconfirmed: UnconfirmedPolicy | null = null,
): Promise<EmailDetail> {
  const row = await requireEmail(db, tenant, id)
  const [recipients, events, replies] = await Promise.all([
    selectRecipients(db, [row.id]),
    selectEmailEvents(db, row.id),
    selectReplyIds(db, row.organization_id, row.id),
  ])
  return {
    ...toJsonEmailItem(row),
    bcc: [...fromJson(row.bcc_addresses)],
    reply_to: [...fromJson(row.reply_to)],
    message_id: row.message_id,
    wire_message_id: row.wire_message_id,
    metadata: { ...fromJson(row.metadata) },
    provider: row.provider,
    provider_message_id: row.provider_message_id,
    recipients: recipients.map(recipient => ({
      email: recipient.email,
      type: recipient.type,
      status: recipient.status,
      smtp_code: recipient.smtp_code,
      enhanced_code: recipient.enhanced_code,
      detail: recipientDetail(recipient, unconfirmed),
      updated_at: toIso(recipient.updated_at),
    })),
    events: [firstEvent(row), ...events].map(event => toJsonEmailEvent(event, row)),
    replies: [...replies],
    sent_at: isoOrNull(row.sent_at),
    error: row.error,
  }
}

/**
 * The content of a sent email, parsed from its message; nulls once retention has removed it.
 * @throws Refusal `not_found`, `brand_restricted`
 */
export async function readEmailContent(deps: StoredContentDeps, tenant: Tenant, id: string): Promise<EmailContent> {
  const row = await requireEmail(deps.db, tenant, id)
  const metadata = {
    id: row.id,
    attachments: fromJson(row.attachments).map(attachment => ({ ...attachment })),
    purged_at: isoOrNull(row.content_purged_at),
    attachments_purged_at: isoOrNull(row.attachments_purged_at),
  }
  if (row.content_purged_at !== null)
    return { ...metadata, subject: null, text: null, html: null, headers: null, available: false }
  const message = await parseStoredEmail(deps, row)
  return {
    ...metadata,
    subject: row.subject,
    text: message.text,
    html: message.html,
    headers: message.headers.map(({ name, value }) => ({ name, value })),
    available: true,
  }
}

/** The refusals of {@link requireEmail}. */
export const emailRefusals = ['not_found', ...requireBrandRefusals] as const

/** The email with this id. @throws Refusal `not_found`, `brand_restricted` */
export async function requireEmail(db: Db, tenant: Tenant, id: string): Promise<EmailDetailRow> {
  const row = isId('eml', id) ? await selectEmail(db, tenant.organizationId, id) : undefined
  if (!row) throw refuse('not_found', { message: `There is no email ${id.slice(0, 80)}.` })
  requireBrand(tenant, row.brand_id, { of: `the email ${row.id}` })
  return row
}

/** An email as lists show it. */
export function toJsonEmailItem(row: EmailItemRow): EmailItem {
  return {
    id: row.id,
    brand_id: row.brand_id,
    domain_id: row.domain_id,
    from: row.from_header,
    to: [...fromJson(row.to_addresses)],
    cc: [...fromJson(row.cc_addresses)],
    subject: row.subject,
    status: row.status,
    tags: toJsonTags(row),
    template: row.template,
    attachment_count: row.attachment_count,
    created_at: toIso(row.created_at),
    scheduled_at: isoOrNull(row.scheduled_at),
    last_event_at: toIso(row.last_event_at),
  }
}

function toJsonTags({ tags }: EmailItemRow) {
  return fromJson(tags).map(tag => ({ ...tag }))
}

/** The event that every email begins with. It says no more than the email itself, so it is not stored. */
function firstEvent({ id, scheduled_at, created_at, source }: EmailDetailRow): EmailEventItemRow {
  return {
    id: `evt_${id.slice(4)}`,
    email_id: id,
    recipient: null,
    type: scheduled_at === null ? 'queued' : 'scheduled',
    occurred_at: created_at,
    recorded_at: created_at,
    source,
    smtp_code: null,
    enhanced_code: null,
    detail: null,
    bounce: null,
    extra: toJson({}),
  }
}

function toJsonEmailEvent(event: EmailEventItemRow, email: EmailDetailRow): EmailDetail['events'][number] {
  return {
    id: event.id,
    type: event.type,
    recipient: event.recipient,
    occurred_at: toIso(event.occurred_at),
    recorded_at: toIso(event.recorded_at),
    source: event.source,
    smtp_code: event.smtp_code,
    enhanced_code: event.enhanced_code,
    detail: event.detail,
    bounce: event.bounce === null ? null : fromJson(event.bounce),
    data: { ...fromJson(event.extra) },
    tags: toJsonTags(email),
    metadata: { ...fromJson(email.metadata) },
  }
}

function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : toIso(at)
}
