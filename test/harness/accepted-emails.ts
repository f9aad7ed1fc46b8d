import { generateKeyPairSync } from 'node:crypto'
import { type Instant, plusMs } from '../../src/base/clock.ts'
import { type Db, inTransaction } from '../../src/base/database/database.ts'
import { toJson } from '../../src/base/database/schema.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import type { BlobStore } from '../../src/ports/blobs/port.ts'
import { type EmailRows, insertEmails } from '../../src/sending/accept/table.ts'

const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** The TXT record of the DKIM key of every sending domain. */
export const dkimRecord = `v=DKIM1; k=rsa; p=${key.publicKey.toString('base64')}`

/** An organization with a brand and a verified domain. */
export interface SendingDomain {
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  readonly domain: string
}

export async function createSendingDomain(db: Db, now: Instant, domain = 'shop.test'): Promise<SendingDomain> {
  const sender = { organizationId: newId('org'), brandId: newId('brd'), domainId: newId('dom'), domain }
  const { organizationId, brandId, domainId } = sender
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'Shop', plan: 'unlimited', created_at: now })
    .execute()
  await db
    .insertInto('brands')
    .values({
      id: brandId,
      organization_id: organizationId,
      name: 'Shop',
      slug: 'shop',
      status: 'ready',
      created_at: now,
      updated_at: now,
    })
    .execute()
  await db
    .insertInto('domains')
    .values({
      id: domainId,
      organization_id: organizationId,
      brand_id: brandId,
      domain,
      status: 'verified',
      ownership_verified: 1,
      provider_error: null,
      last_checked_at: null,
      created_at: now,
    })
    .execute()
  await db
    .insertInto('dkim_keys')
    .values({ domain_id: domainId, selector: 'mr1', private_key: key.privateKey, created_at: now })
    .execute()
  return sender
}

export interface AcceptedEmail {
  readonly to?: readonly string[]
  /** CRLF line ends, without Date. */
  readonly message?: Buffer
  readonly scheduledAt?: Instant
  readonly expiresAt?: Instant
  readonly createdAt?: Instant
}

/** A message as it is stored at acceptance. */
export function storedMessage(id: string, to: string, text = 'Hello\r\n'): Buffer {
  const header = [
    'From: Shop <hello@shop.test>',
    `To: ${to}`,
    'Subject: Hello',
    `Message-ID: <${id}@shop.test>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ]
  return Buffer.from(`${header.join('\r\n')}\r\n\r\n${text}`)
}

/** Inserts emails in the state after acceptance: all rows of an email at once, so that a relay may run. Returns their ids in order. */
export async function insertAcceptedEmails(
  db: Db,
  blobs: BlobStore,
  sender: SendingDomain,
  now: Instant,
  emails: readonly AcceptedEmail[],
): Promise<readonly Id<'eml'>[]> {
  const rows: EmailRows[] = []
  for (const [i, email] of emails.entries()) {
    const emailId = newId('eml')
    const to = email.to ?? [`u${i}@x.test`]
    const bytes = email.message ?? storedMessage(emailId, to.join(', '))
    const blob = await blobs.store(sender.organizationId, { kind: 'memory', bytes, size: bytes.length })
    rows.push(rowsOf(sender, emailId, blob.id, to, email, plusMs(email.createdAt ?? now, i / 1000)))
  }
  for (let i = 0; i < rows.length; i += 200) await inTransaction(db, tx => insertEmails(tx, rows.slice(i, i + 200)))
  return rows.map(row => row.email.id)
}

function rowsOf(
  sender: SendingDomain,
  emailId: Id<'eml'>,
  blobId: Id<'blb'>,
  to: readonly string[],
  email: AcceptedEmail,
  createdAt: Instant,
): EmailRows {
  const { organizationId } = sender
  const scheduledAt = email.scheduledAt ?? null
  const expiresAt = email.expiresAt ?? plusMs(scheduledAt ?? createdAt, 5 * 24 * 3600 * 1000)
  const status = scheduledAt ? 'scheduled' : 'queued'
  return {
    email: {
      id: emailId,
      organization_id: organizationId,
      brand_id: sender.brandId,
      domain_id: sender.domainId,
      api_key_id: null,
      created_at: createdAt,
      scheduled_at: scheduledAt,
      expires_at: expiresAt,
      status,
      message_id: `${emailId}@${sender.domain}`,
      thread_id: emailId,
      from_address: `hello@${sender.domain}`,
      from_header: `Shop <hello@${sender.domain}>`,
      to_addresses: toJson(to),
      cc_addresses: toJson([]),
      bcc_addresses: toJson([]),
      reply_to: toJson([]),
      subject: 'Hello',
      tags: toJson([]),
      metadata: toJson({}),
      template: null,
      attachments: toJson([]),
      attachment_count: 0,
      blob_id: blobId,
      provider: 'scripted',
      provider_message_id: null,
      sent_at: null,
      last_event_at: createdAt,
      error: null,
    },
    recipients: to.map((address, position) => ({
      email_id: emailId,
      position,
      organization_id: organizationId,
      email: address,
      type: 'to',
      status,
      smtp_code: null,
      enhanced_code: null,
      detail: null,
      updated_at: createdAt,
    })),
    events: [],
    outbox: to.map((address, position) => ({
      id: newId('out'),
      organization_id: organizationId,
      email_id: emailId,
      position,
      destination: address.slice(address.lastIndexOf('@') + 1),
      due_at: scheduledAt ?? createdAt,
      lease: null,
      attempts: 0,
      expires_at: expiresAt,
      last_reply: null,
      created_at: createdAt,
    })),
  }
}
