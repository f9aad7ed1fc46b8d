import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Instant, plusMs, systemClock } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { openLog } from '../../src/base/observability/log.ts'
import type { MessageSource } from '../../src/mail/message-source.ts'
import type { Authenticator, Verdict, Verdicts } from '../../src/ports/authenticator/port.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import type { Scanner, ScanResult } from '../../src/ports/scanner/port.ts'
import { MessageFiler } from '../../src/receiving/file.ts'
import type { InboundPipeline, InboundRecipient, IncomingMessage } from '../../src/receiving/incoming-message.ts'
import { type ReceiveDeps, receive } from '../../src/receiving/receive.ts'
import { batchedClaimLookups, findRecipient, type RecipientDeps } from '../../src/receiving/recipient.ts'
import { SmtpRefusal } from '../../src/receiving/smtp-refusal.ts'
import { insertAcceptedEmails } from '../harness/accepted-emails.ts'
import type { FreshDatabase } from '../harness/database.ts'

/** An organization that receives mail for a domain of its own. */
export interface Receiver {
  readonly database: FreshDatabase
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  readonly domain: string
  mailbox(localPart: string): Promise<Id<'mbx'>>
}

export const log = openLog('silent')

export async function receiver(database: FreshDatabase): Promise<Receiver> {
  const [organizationId, brandId, domainId] = [newId('org'), newId('brd'), newId('dom')]
  const domain = `${randomBytes(5).toString('hex')}.test`
  const at = systemClock.now()
  const { db } = database
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'Test', plan: 'unlimited', created_at: at })
    .execute()
  await db
    .insertInto('brands')
    .values({
      id: brandId,
      organization_id: organizationId,
      name: 'Test',
      slug: 'test',
      status: 'ready',
      created_at: at,
      updated_at: at,
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
      created_at: at,
    })
    .execute()
  await db
    .insertInto('receiving_claims')
    .values({
      domain,
      organization_id: organizationId,
      domain_id: domainId,
      identity_verified: 1,
      identity_error: null,
      mx_verified: 1,
      claimed_at: at,
      checked_at: null,
    })
    .execute()
  return {
    database,
    organizationId,
    brandId,
    domainId,
    domain,
    async mailbox(localPart) {
      const id = newId('mbx')
      await db
        .insertInto('mailboxes')
        .values({
          id,
          organization_id: organizationId,
          brand_id: brandId,
          domain_id: domainId,
          local_part: localPart,
          created_at: at,
        })
        .execute()
      return id
    },
  }
}

const none: Verdict = { result: 'none', domain: null, aligned: null, detail: null }

/** Gives these verdicts, with the address that messages of these tests have in From. */
export function fakeAuthenticator(verdicts: Partial<Verdicts> = {}): Authenticator {
  const result: Verdicts = {
    spf: none,
    dkim: none,
    dmarc: { ...none, policy: null },
    arc: { ...none, sealer: null },
    from: ['a@x.test'],
    ...verdicts,
  }
  return { authenticate: () => Promise.resolve(result) }
}

export function fakeScanner(scan: ScanResult, isReady = true): Scanner {
  return { scan: () => Promise.resolve(scan), isReady: () => Promise.resolve(isReady) }
}

/** An email to these recipients that was accepted `minutesAgo`, and by the relay a second later. */
export async function sentEmail(
  { database: { db }, ...sender }: Receiver,
  to: readonly string[] = ['bob@dest.example'],
  minutesAgo = 0,
): Promise<Id<'eml'>> {
  const createdAt = plusMs(systemClock.now(), -minutesAgo * 60_000)
  const [id] = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), sender, createdAt, [{ to }])
  if (!id) throw new Error('nothing was accepted')
  await db.deleteFrom('outbox').where('email_id', '=', id).execute()
  const sent = { status: 'sent', updated_at: plusMs(createdAt, minutesAgo === 0 ? 0 : 1000) } as const
  await db.updateTable('email_recipients').set(sent).where('email_id', '=', id).execute()
  await db.updateTable('emails').set({ status: 'sent' }).where('id', '=', id).execute()
  return id
}

/** A report in the format of one mail system. */
export function reportFixture(name: string): string {
  return readFileSync(join(import.meta.dir, `../fixtures/reports/${name}.eml`), 'latin1')
}

/** The inbound pipeline on a real database, with an authenticator and a scanner that approve of everything. */
export function inboundPipeline(
  { database: { db } }: Receiver,
  { postmaster, bounces, ...more }: Partial<Pick<RecipientDeps, 'postmaster' | 'bounces'> & ReceiveDeps> = {},
): InboundPipeline {
  const blobs = mysqlBlobs(db, systemClock)
  const hasDiskSpace = more.hasDiskSpace ?? (() => true)
  const recipientDeps: RecipientDeps = { db, findClaims: batchedClaimLookups(db), hasDiskSpace, postmaster, bounces }
  const receiveDeps: ReceiveDeps = {
    db,
    blobs,
    log,
    hasDiskSpace,
    authenticator: fakeAuthenticator(),
    canary: () => Promise.resolve(true),
    scanner: fakeScanner({ kind: 'clean' }),
    scanAttachments: 'decoded',
    scanWaitMs: 0,
    policy: { dmarcReject: false, unscanned: 'quarantine' },
    filer: new MessageFiler({ db, blobs }),
    ...more,
  }
  return {
    findRecipient: address => findRecipient(address, recipientDeps),
    receive: mail => receive(mail, receiveDeps),
  }
}

export function inMemory(bytes: Buffer | string): MessageSource {
  const buffer = Buffer.from(bytes)
  return { kind: 'memory', bytes: buffer, size: buffer.length }
}

/** A message as the SMTP server passes it to the inbound pipeline. */
export function mailTo(
  recipients: readonly InboundRecipient[],
  content: MessageSource,
  more: Partial<IncomingMessage> = {},
): IncomingMessage {
  return {
    id: newId('msg'),
    mailFrom: 'bounce@x.test',
    recipients,
    content,
    remoteIp: '192.0.2.1',
    helo: 'mx.x.test',
    tls: null,
    smtputf8: false,
    receivedAt: systemClock.now(),
    signal: new AbortController().signal,
    ...more,
  }
}

export function message(lines: readonly string[] = [], body = 'Hello.\r\n'): string {
  const head = ['From: Ann <a@x.test>', 'Subject: Hello', `Message-ID: <${randomBytes(8).toString('hex')}@x.test>`]
  return `${[...head, ...lines].join('\r\n')}\r\n\r\n${body}`
}

/** The code of the refusal, or `none`. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof SmtpRefusal) return error.code
    throw error
  }
  return 'none'
}

export function messagesOf({ database, organizationId }: Receiver) {
  return database.db.selectFrom('messages').selectAll().where('organization_id', '=', organizationId).execute()
}

export function daysAgo(days: number): Instant {
  return plusMs(systemClock.now(), -days * 24 * 3600 * 1000)
}
