import { type FileDownload, streamText } from '../../api/file-response.ts'
import type { Tenant } from '../../api/tenant.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import { csvLine, formulaSafe } from '../../base/csv.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { type EmailRecipientRow, selectRecipients } from '../events/table.ts'
import { type EmailListQuery, readEmailFilter } from './emails.ts'
import { type EmailFilter, type EmailItemRow, selectEmailPage } from './table.ts'
import { recipientDetail, type UnconfirmedPolicy } from './unconfirmed.ts'

const emailsPerPage = 500

const columns = [
  ...['email_id', 'created_at', 'scheduled_at', 'from', 'subject', 'template', 'tags', 'brand_id'],
  ...['recipient', 'type', 'status', 'smtp_code', 'enhanced_code', 'detail', 'updated_at'],
]

/**
 * The emails that a list shows as CSV (RFC 4180), newest first, a line for each recipient with the evidence for its status.
 * It is read as it is downloaded, page by page, so that it takes the same memory for any number of emails; the emails
 * accepted meanwhile are not in it. When the database fails, the download breaks off: it never ends early as if it were whole.
 * @throws Refusal `invalid_request`; for `brand_id` `not_found`, `brand_restricted`
 */
export async function exportEmails(
  db: Db,
  tenant: Tenant,
  query: Omit<EmailListQuery, 'limit' | 'before'>,
  unconfirmed: UnconfirmedPolicy,
): Promise<FileDownload> {
  const filter = await readEmailFilter(db, tenant, query)
  return {
    filename: `sent-${unconfirmed.now.slice(0, 10)}.csv`,
    size: null,
    contentType: 'text/csv; charset=utf-8',
    bytes: streamText(csvPages(db, filter, unconfirmed)),
  }
}

async function* csvPages(db: Db, filter: EmailFilter, unconfirmed: UnconfirmedPolicy): AsyncGenerator<string> {
  yield csvLine(columns)
  for (let before: Instant | null = unconfirmed.now; before !== null; ) {
    const { rows, nextBefore } = await selectEmailPage(db, filter, { before, limit: emailsPerPage })
    const recipients = await recipientsOf(db, rows)
    const lines = rows.flatMap(email =>
      (recipients.get(email.id) ?? []).map(recipient => recipientLine(email, recipient, unconfirmed)),
    )
    if (lines.length > 0) yield lines.join('')
    before = nextBefore
  }
}

async function recipientsOf(db: Db, emails: readonly EmailItemRow[]) {
  const ids = emails.map(email => email.id)
  const rows = ids.length === 0 ? [] : await selectRecipients(db, ids)
  return Map.groupBy(rows, row => row.email_id)
}

function recipientLine(email: EmailItemRow, recipient: EmailRecipientRow, unconfirmed: UnconfirmedPolicy): string {
  const tags = fromJson(email.tags).map(({ name, value }) => `${name}:${value}`)
  return csvLine([
    email.id,
    toIso(email.created_at),
    email.scheduled_at === null ? '' : toIso(email.scheduled_at),
    formulaSafe(email.from_header),
    formulaSafe(email.subject),
    formulaSafe(email.template ?? ''),
    formulaSafe(tags.join(' ')),
    email.brand_id,
    formulaSafe(recipient.email),
    recipient.type,
    recipient.status,
    recipient.smtp_code === null ? '' : String(recipient.smtp_code),
    recipient.enhanced_code ?? '',
    formulaSafe(recipientDetail(recipient, unconfirmed) ?? ''),
    toIso(recipient.updated_at),
  ])
}
