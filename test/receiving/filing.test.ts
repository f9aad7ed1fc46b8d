import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { plusMs, systemClock } from '../../src/base/clock.ts'
import { type Db, inTransaction } from '../../src/base/database/database.ts'
import { fromJson } from '../../src/base/database/schema.ts'
import { newId } from '../../src/base/ids.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { MessageFiler } from '../../src/receiving/file.ts'
import { insertMessages } from '../../src/receiving/table.ts'
import { joinThreads } from '../../src/sending/threads/threads.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { isWaitingForLock } from '../harness/lock-wait.ts'
import { countRowsRead } from '../harness/rows-read.ts'
import { until } from '../harness/until.ts'
import {
  daysAgo,
  fakeAuthenticator,
  fakeScanner,
  inboundPipeline,
  inMemory,
  mailTo,
  message,
  messagesOf,
  type Receiver,
  receiver,
  refusalOf,
  reportFixture,
} from './fixtures.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.close())

async function withMailbox(localPart = 'hello') {
  const ours = await receiver(database)
  const mailboxId = await ours.mailbox(localPart)
  const inbound = inboundPipeline(ours)
  const recipient = await inbound.findRecipient(`${localPart}@${ours.domain}`)
  return { ours, mailboxId, inbound, recipient }
}

test('accepts no recipient and no message while the disks are nearly full', async () => {
  const { ours, recipient } = await withMailbox()
  const inbound = inboundPipeline(ours, { hasDiskSpace: () => false })
  expect(await refusalOf(inbound.findRecipient(`hello@${ours.domain}`))).toBe('disk_full')
  expect(await refusalOf(inbound.receive(mailTo([recipient], inMemory(message()))))).toBe('disk_full')
  expect(await messagesOf(ours)).toEqual([])
})

describe('files a message', () => {
  test('with all its columns', async () => {
    const { ours, mailboxId, inbound, recipient } = await withMailbox()
    const raw = message(['To: B <b@x.test>', 'In-Reply-To: <0@x.test>', 'References: <9@x.test> <0@x.test>'])
    const mail = mailTo([recipient], inMemory(raw), { tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384', smtputf8: true })
    const { id } = await inbound.receive(mail)
    const [row] = await messagesOf(ours)
    expect(row).toMatchObject({
      id,
      brand_id: ours.brandId,
      mailbox_id: mailboxId,
      folder: 'inbox',
      folder_reason: 'accepted',
      starred: 0,
      is_read: 0,
      received_at: mail.receivedAt,
      size: raw.length,
      mail_from: 'bounce@x.test',
      rcpt_to: `hello@${ours.domain}`,
      remote_ip: '192.0.2.1',
      helo: 'mx.x.test',
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      smtputf8: 1,
      thread_id: id,
      in_reply_to: '0@x.test',
      in_reply_to_email_id: null,
      from_address: 'a@x.test',
      from_name: 'Ann',
      subject: 'Hello',
      preview: 'Hello.',
      attachment_count: 0,
      spf: 'none',
      dkim: 'none',
      dmarc: 'none',
      scan: 'clean',
      scan_signature: null,
      rescan_at: null,
      release_folder: null,
      indexed: 1,
    })
    expect(fromJson(row?.to_addresses ?? '')).toEqual([{ address: 'b@x.test', name: 'B' }])
    const blobId = row?.blob_id ?? newId('blb')
    const bytes = await mysqlBlobs(database.db, systemClock).readWhole(ours.organizationId, blobId)
    expect(bytes.toString()).toBe(raw)
    const blob = await database.db.selectFrom('blobs').select('sha256').where('id', '=', blobId).executeTakeFirst()
    expect(blob?.sha256).toEqual(createHash('sha256').update(raw).digest())
  })

  test('with its attachments', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const body =
      '--b\r\n\r\nHi\r\n--b\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment\r\n\r\n1,2\r\n--b--\r\n'
    const { id } = await inbound.receive(
      mailTo([recipient], inMemory(message(['Content-Type: multipart/mixed; boundary=b'], body))),
    )
    const rows = await database.db
      .selectFrom('attachments')
      .selectAll()
      .where('message_id', '=', newestId(id))
      .execute()
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      organization_id: ours.organizationId,
      position: 0,
      filename: 'a.csv',
      content_type: 'text/csv',
      size: 3,
      content_id: null,
      disposition: 'attachment',
      sha256: createHash('sha256').update('1,2').digest(),
      scan: 'clean',
      scan_signature: null,
    })
  })

  test('in the thread of the message that it replies to', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const first = message(['X: 1'])
    const answered = /Message-ID: (<.*>)/.exec(first)?.[1]
    const one = await inbound.receive(mailTo([recipient], inMemory(first)))
    await inbound.receive(mailTo([recipient], inMemory(message([`In-Reply-To: ${answered}`]))))
    expect((await messagesOf(ours)).map(row => row.thread_id)).toEqual([one.id, one.id])
  })

  test('as a reply to our email, which gets a replied event', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const emailId = await sentEmail(ours, 'sent@ours.test')
    const answer = identified(['In-Reply-To: <sent@ours.test>'])
    const { id } = await inbound.receive(mailTo([recipient], inMemory(answer)))
    await inbound.receive(mailTo([recipient], inMemory(answer)))
    const rows = await messagesOf(ours)
    expect(rows.map(row => [row.in_reply_to_email_id, row.thread_id])).toEqual([[emailId, emailId]])
    const events = await database.db.selectFrom('email_events').selectAll().where('email_id', '=', emailId).execute()
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({ type: 'replied', source: 'inbound', recipient: null })
    expect(JSON.parse(events[0]?.extra ?? '')).toEqual({ message_id: id })
  })

  test.each([
    ['a report', [], ''],
    ['a note of absence', ['Auto-Submitted: auto-replied (vacation)'], 'ann@x.test'],
    ['a note of absence of an old program', ['X-Autoreply: yes'], 'ann@x.test'],
    ['what a program sends in bulk', ['Precedence: bulk'], 'ann@x.test'],
    ['what a program made', ['AUTO-SUBMITTED: Auto-Generated; owner-email="a@x.test"'], 'ann@x.test'],
  ])('in the thread of the email that it refers to, but not as a reply: %s', async (_, lines, mailFrom) => {
    const { ours, inbound, recipient } = await withMailbox()
    const emailId = await sentEmail(ours, 'sent@ours.test')
    await inbound.receive(
      mailTo([recipient], inMemory(message(['References: <sent@ours.test>', ...lines])), { mailFrom }),
    )
    const rows = await messagesOf(ours)
    expect(rows.map(row => [row.in_reply_to_email_id, row.thread_id])).toEqual([[null, emailId]])
    const events = await database.db.selectFrom('email_events').select('id').where('email_id', '=', emailId).execute()
    expect(events).toEqual([])
  })

  test('as a reply if its header says that a person wrote it', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const emailId = await sentEmail(ours, 'sent@ours.test')
    const lines = ['In-Reply-To: <sent@ours.test>', 'Auto-Submitted: no (a person)']
    await inbound.receive(mailTo([recipient], inMemory(message(lines))))
    expect((await messagesOf(ours)).map(row => row.in_reply_to_email_id)).toEqual([emailId])
  })

  test('in the folder that follows from the verdicts', async () => {
    const { ours, recipient } = await withMailbox()
    const dmarc = { result: 'fail', domain: 'x.test', aligned: false, detail: null, policy: 'reject' } as const
    const authenticator = fakeAuthenticator({ dmarc })
    await inboundPipeline(ours, { authenticator }).receive(mailTo([recipient], inMemory(message())))
    const [row] = await messagesOf(ours)
    expect(row).toMatchObject({ folder: 'spam', folder_reason: 'dmarc_fail', dmarc: 'fail' })
    expect(JSON.parse(row?.verdicts ?? '{}').dmarc).toEqual(dmarc)
    const rejecting = inboundPipeline(ours, { authenticator, policy: { dmarcReject: true, unscanned: 'quarantine' } })
    expect(await refusalOf(rejecting.receive(mailTo([recipient], inMemory(message()))))).toBe('dmarc_reject')
    expect(await messagesOf(ours)).toHaveLength(1)
  })

  test('with fields of any length', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const long = 'ü😀'.repeat(3000)
    const many = Array.from({ length: 1500 }, (_, i) => `"${long.slice(0, 50)}" <a${i}@x.test>`).join(', ')
    const raw = `From: "${long}" <a@x.test>\r\nSubject: ${long}\r\nTo: ${many}\r\nMessage-ID: <${'m'.repeat(2000)}@x>\r\nIn-Reply-To: <${'r'.repeat(990)}@x>\r\n\r\n${long}`
    const { id } = await inbound.receive(
      mailTo([recipient], inMemory(raw), { helo: 'h'.repeat(400), mailFrom: `${'f'.repeat(400)}@x` }),
    )
    expect((await messagesOf(ours)).map(row => row.id)).toEqual([newestId(id)])
  })
})

async function sentEmail(ours: Receiver, messageId: string) {
  const id = newId('eml')
  const at = systemClock.now()
  const none = '[]'
  await database.db
    .insertInto('emails')
    .values({
      id,
      organization_id: ours.organizationId,
      brand_id: ours.brandId,
      domain_id: ours.domainId,
      api_key_id: null,
      created_at: at,
      scheduled_at: null,
      expires_at: plusMs(at, 1000),
      status: 'sent',
      message_id: messageId,
      thread_id: id,
      from_address: 'a@ours.test',
      from_header: 'a@ours.test',
      to_addresses: none,
      cc_addresses: none,
      bcc_addresses: none,
      reply_to: none,
      subject: '',
      tags: none,
      metadata: '{}',
      template: null,
      attachments: none,
      attachment_count: 0,
      blob_id: newId('blb'),
      provider: 'sandbox',
      provider_message_id: null,
      sent_at: at,
      last_event_at: at,
      error: null,
    })
    .execute()
  await database.db
    .insertInto('email_recipients')
    .values({
      email_id: id,
      position: 0,
      organization_id: ours.organizationId,
      email: 'ann@x.test',
      type: 'to',
      status: 'sent',
      smtp_code: null,
      enhanced_code: null,
      detail: null,
      updated_at: at,
    })
    .execute()
  const entry = { brandId: ours.brandId, itemId: id, messageId, references: [], emailId: id }
  await inTransaction(database.db, tx => joinThreads(tx, [entry]))
  return id
}

function newestId(id: string) {
  return id as ReturnType<typeof newId<'msg'>>
}

/** A message with a Message-ID and a Date. */
function identified(lines: readonly string[] = []): string {
  return message(['Date: Tue, 1 Jul 2025 10:00:00 +0200', ...lines])
}

describe('one message', () => {
  test('to several mailboxes is filed in each, its bytes stored once for each organization', async () => {
    const ours = await receiver(database)
    const theirs = await receiver(database)
    const inbound = inboundPipeline(ours)
    for (const localPart of ['one', 'two']) await ours.mailbox(localPart)
    await theirs.mailbox('three')
    const recipients = await Promise.all(
      [`one@${ours.domain}`, `two@${ours.domain}`, `two+again@${ours.domain}`, `three@${theirs.domain}`].map(address =>
        inbound.findRecipient(address),
      ),
    )
    const { id } = await inbound.receive(mailTo(recipients, inMemory(message())))
    const rows = await messagesOf(ours)
    const addresses = [`one@${ours.domain}`, `two+again@${ours.domain}`, `two@${ours.domain}`]
    expect(rows.map(row => row.rcpt_to).sort()).toEqual(addresses)
    expect(new Set(rows.map(row => row.blob_id)).size).toBe(1)
    expect(rows.find(row => row.rcpt_to.startsWith('one@'))?.id).toBe(newestId(id))
    const [other] = await messagesOf(theirs)
    expect(other?.rcpt_to).toBe(`three@${theirs.domain}`)
    expect(other?.blob_id).not.toBe(rows[0]?.blob_id)
  })

  test('that comes again is filed once', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const raw = identified()
    const first = await inbound.receive(mailTo([recipient], inMemory(raw)))
    const again = await inbound.receive(mailTo([recipient], inMemory(raw)))
    expect(again.id).toBe(first.id)
    expect(await messagesOf(ours)).toHaveLength(1)
    await inbound.receive(mailTo([recipient], inMemory(raw), { mailFrom: 'other@x.test' }))
    expect(await messagesOf(ours)).toHaveLength(2)
  })

  test('that comes many times at once is filed once', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const other = inboundPipeline(ours)
    const raw = identified()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? inbound : other).receive(mailTo([recipient], inMemory(raw)))),
    )
    expect(await messagesOf(ours)).toHaveLength(1)
    expect(new Set(answers.map(answer => answer.id)).size).toBe(1)
  })

  test('that comes again after three days is filed again', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const raw = identified()
    await inbound.receive(mailTo([recipient], inMemory(raw), { receivedAt: daysAgo(3.1) }))
    await inbound.receive(mailTo([recipient], inMemory(raw)))
    expect(await messagesOf(ours)).toHaveLength(2)
    await inbound.receive(mailTo([recipient], inMemory(raw), { receivedAt: plusMs(systemClock.now(), 60_000) }))
    expect(await messagesOf(ours)).toHaveLength(2)
  })

  test('that one of two mailboxes has is filed in the other', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    await ours.mailbox('second')
    const second = await inbound.findRecipient(`second@${ours.domain}`)
    const raw = identified()
    const first = await inbound.receive(mailTo([recipient], inMemory(raw)))
    expect(await inbound.receive(mailTo([recipient, second], inMemory(raw)))).toEqual(first)
    expect(await messagesOf(ours)).toHaveLength(2)
  })
})

describe('the same bytes', () => {
  const date = 'Date: Tue, 1 Jul 2025 10:00:00 +0200'
  const id = 'Message-ID: <1@device.test>'
  const alarm = (...fields: readonly string[]) => ['From: a@x.test', ...fields, '', 'Alarm.'].join('\r\n')
  const attached = `Content-Type: message/rfc822\r\n\r\n${id}\r\n${date}`

  for (const [what, raw, count] of [
    ['with a Message-ID and a Date, once', alarm(id, date), 1],
    ['without a Date, each time', alarm(id), 2],
    ['without a Message-ID, each time', alarm(date), 2],
    ['without either, each time', alarm(), 2],
    ['with an empty Message-ID, each time', alarm('Message-ID: <>', date), 2],
    ['with an empty Date, each time', alarm(id, 'Date:'), 2],
    ['with a Date that is none, each time', alarm(id, 'Date: soon'), 2],
    ['with those of an attached message, each time', alarm(attached), 2],
    ['without a header, each time', 'Alarm.', 2],
  ] as const)
    test(`twice are filed: ${what}`, async () => {
      const { ours, inbound, recipient } = await withMailbox()
      const authenticator = fakeAuthenticator({ from: [] })
      const lenient = raw.startsWith('From') ? inbound : inboundPipeline(ours, { authenticator })
      const mailFrom = raw.startsWith('From') ? 'alarm@x.test' : ''
      for (let i = 0; i < 2; i++) await lenient.receive(mailTo([recipient], inMemory(raw), { mailFrom }))
      const rows = await messagesOf(ours)
      expect(rows).toHaveLength(count)
      expect(new Set(rows.map(row => row.blob_id)).size).toBe(1)
    })

  const addresses = ['hello+billing', 'hello+support', 'hello'] as const
  for (const [what, raw] of [
    ['with a Message-ID and a Date', identified()],
    ['without them', alarm()],
  ] as const) {
    test(`for several addresses of a mailbox in one transaction are filed for each, ${what}`, async () => {
      const { ours, mailboxId, inbound } = await withMailbox()
      const recipients = await Promise.all(addresses.map(local => inbound.findRecipient(`${local}@${ours.domain}`)))
      const { id } = await inbound.receive(mailTo(recipients, inMemory(raw)))
      const rows = await messagesOf(ours)
      expect(rows.map(row => row.rcpt_to).sort()).toEqual(addresses.map(local => `${local}@${ours.domain}`).sort())
      expect(new Set(rows.map(row => row.mailbox_id))).toEqual(new Set([mailboxId]))
      expect(rows.find(row => row.rcpt_to.startsWith('hello+billing'))?.id).toBe(newestId(id))
      expect(new Set(rows.map(row => row.blob_id)).size).toBe(1)
    })

    test(`for several addresses of a mailbox in transactions of their own are filed for each, ${what}`, async () => {
      const { ours, inbound } = await withMailbox()
      for (const local of addresses) {
        const recipient = await inbound.findRecipient(`${local}@${ours.domain}`)
        await inbound.receive(mailTo([recipient], inMemory(raw)))
      }
      expect(await messagesOf(ours)).toHaveLength(3)
    })

    test(`for two addresses at the same time are filed for each, ${what}`, async () => {
      const { ours, inbound } = await withMailbox()
      const other = inboundPipeline(ours)
      const recipients = await Promise.all(addresses.map(local => inbound.findRecipient(`${local}@${ours.domain}`)))
      await Promise.all(
        recipients.map((recipient, i) => (i % 2 ? inbound : other).receive(mailTo([recipient], inMemory(raw)))),
      )
      expect(await messagesOf(ours)).toHaveLength(3)
    })
  }

  test('for two recipients of a catch-all are filed for each, and again only for one that is new', async () => {
    const ours = await receiver(database)
    await ours.mailbox('')
    const inbound = inboundPipeline(ours)
    const recipients = await Promise.all(
      ['ops', 'sales', 'new'].map(local => inbound.findRecipient(`${local}@${ours.domain}`)),
    )
    const raw = identified()
    const first = await inbound.receive(mailTo(recipients.slice(0, 2), inMemory(raw)))
    expect(await inbound.receive(mailTo(recipients.slice(0, 2), inMemory(raw)))).toEqual(first)
    expect(await inbound.receive(mailTo(recipients, inMemory(raw)))).toEqual(first)
    const local = (await messagesOf(ours)).map(row => row.rcpt_to.split('@')[0])
    expect(local.sort()).toEqual(['new', 'ops', 'sales'])
  })

  test('for an address in other letters are those for the address', async () => {
    const { ours, inbound, recipient } = await withMailbox()
    const raw = identified()
    const inCapitals = { ...recipient, address: recipient.address.toUpperCase() }
    await inbound.receive(mailTo([recipient], inMemory(raw)))
    await inbound.receive(mailTo([inCapitals], inMemory(raw)))
    expect(await messagesOf(ours)).toHaveLength(1)
  })

  test('are filed once where the outcome of the first commit was lost', async () => {
    for (const raw of [identified(), alarm()]) {
      const { ours, inbound, recipient } = await withMailbox()
      const blobs = mysqlBlobs(database.db, systemClock)
      let commits = 0
      const filer = new MessageFiler({ db: losingCommit(database.db, () => ++commits === 1), blobs })
      const { id } = await inboundPipeline(ours, { filer }).receive(mailTo([recipient], inMemory(raw)))
      expect(commits).toBe(2)
      expect((await messagesOf(ours)).map(row => row.id)).toEqual([newestId(id)])
      await inbound.receive(mailTo([recipient], inMemory(raw)))
      expect(await messagesOf(ours)).toHaveLength(raw === alarm() ? 2 : 1)
    }
  })
})

/** The database, whose connection breaks right after those commits for which `isLost` is true. */
function losingCommit(db: Db, isLost: () => boolean): Db {
  return new Proxy(db, {
    get(target, key) {
      if (key !== 'getExecutor') return Reflect.get(target, key, target)
      const executor = target.getExecutor()
      const provideConnection: typeof executor.provideConnection = async consumer => {
        const result = await executor.provideConnection(consumer)
        if (isLost()) throw Object.assign(new Error('the connection broke'), { code: 'ECONNRESET', fatal: true })
        return result
      }
      const withConnectionProvider = executor.withConnectionProvider.bind(executor)
      return () => ({ provideConnection, withConnectionProvider })
    },
  })
}

test('reads few rows of a full mailbox, however many messages come together', async () => {
  const { ours, inbound, recipient } = await withMailbox()
  await inbound.receive(mailTo([recipient], inMemory(message())))
  const [row] = await messagesOf(ours)
  if (!row) throw new Error('nothing was filed')
  const old = Array.from({ length: 2000 }, () => ({ ...row, id: newId('msg'), sameness: randomBytes(32) }))
  await insertMessages(database.db, old)
  const read = await countRowsRead(database.db, async one => {
    const filer = new MessageFiler({ db: one, blobs: mysqlBlobs(one, systemClock) })
    const several = inboundPipeline(ours, { filer })
    await Promise.all([identified(), message()].map(raw => several.receive(mailTo([recipient], inMemory(raw)))))
    const alias = { ...recipient, address: `hello+list@${ours.domain}` }
    await several.receive(mailTo([recipient, alias], inMemory(message())))
  })
  expect(await messagesOf(ours)).toHaveLength(2005)
  expect(read).toBeLessThan(200)
})

test('files many messages at once, each in its mailbox', async () => {
  const { ours, inbound, recipient } = await withMailbox()
  const all = Array.from({ length: 100 }, (_, i) => message([`X-Number: ${i}`]))
  const answers = await Promise.all(all.map(raw => inbound.receive(mailTo([recipient], inMemory(raw)))))
  const rows = await messagesOf(ours)
  expect(new Set(rows.map(row => row.id))).toEqual(new Set(answers.map(answer => newestId(answer.id))))
  expect(rows).toHaveLength(100)
})

test('defers a message with a mailbox that was deleted since its RCPT, and no other message', async () => {
  const { ours, inbound, recipient } = await withMailbox()
  await ours.mailbox('gone')
  const gone = await inbound.findRecipient(`gone@${ours.domain}`)
  await database.db.deleteFrom('mailboxes').where('local_part', '=', 'gone').execute()
  const [refused, fine] = await Promise.all([
    refusalOf(inbound.receive(mailTo([recipient, gone], inMemory(message())))),
    inbound.receive(mailTo([recipient], inMemory(message()))),
  ])
  expect(refused).toBe('mailbox_gone')
  expect((await messagesOf(ours)).map(row => row.id)).toEqual([newestId(fine.id)])
})

test('files nothing for a client that has disconnected', async () => {
  const { ours, inbound, recipient } = await withMailbox()
  const mail = mailTo([recipient], inMemory(message()), { signal: AbortSignal.abort() })
  const [late, fine] = await Promise.all([
    refusalOf(inbound.receive(mail)),
    inbound.receive(mailTo([recipient], inMemory(message()))),
  ])
  expect(late).toBe('answer_late')
  expect((await messagesOf(ours)).map(row => row.id)).toEqual([newestId(fine.id)])
})

test('files nothing for clients that disconnect while their messages are being filed', async () => {
  const { ours, inbound, recipient } = await withMailbox()
  const leaving = new AbortController()
  const mails = Array.from({ length: 10 }, (_, i) =>
    mailTo([recipient], inMemory(message()), i % 2 ? { signal: leaving.signal } : {}),
  )
  // The batch waits for this lock, so that they disconnect in the middle of it.
  const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>()
  const lock = database.db.transaction().execute(async tx => {
    await tx.selectFrom('mailboxes').select('id').where('id', '=', recipient.mailboxId).forUpdate().execute()
    hasLocked()
    await until(() => isWaitingForLock(tx, 'mailboxes'))
    leaving.abort()
  })
  await locked
  const outcomes = await Promise.all(mails.map(mail => refusalOf(inbound.receive(mail))))
  await lock
  expect(outcomes).toEqual(mails.map((_, i) => (i % 2 ? 'answer_late' : 'none')))
  expect(await messagesOf(ours)).toHaveLength(5)
})

describe('refuses', () => {
  for (const [what, raw, code] of [
    ['a message with two From fields', message(['From: <b@x.test>']), 'from_malformed'],
    ['a message with two addresses in From', 'From: a@x.test, b@x.test\r\n\r\nhi', 'from_malformed'],
    ['a message without From', 'Subject: x\r\n\r\nhi', 'from_malformed'],
    ['a message without a header', '\r\nhi', 'from_malformed'],
    ['an empty message', '', 'from_malformed'],
    ['a message in a mail loop', message(Array(50).fill('Received: from x')), 'mail_loop'],
  ] as const)
    test(what, async () => {
      const { ours, inbound, recipient } = await withMailbox()
      expect(await refusalOf(inbound.receive(mailTo([recipient], inMemory(raw))))).toBe(code)
      expect(await messagesOf(ours)).toHaveLength(0)
    })

  test('with 451 when a part of Mailroom fails, and files nothing', async () => {
    const { ours, recipient } = await withMailbox()
    const broken = inboundPipeline(ours, { authenticator: { authenticate: () => Promise.reject(new Error('broken')) } })
    expect(await refusalOf(broken.receive(mailTo([recipient], inMemory(message()))))).toBe('our_trouble')
    expect(await messagesOf(ours)).toHaveLength(0)
  })

  test('a message that cannot be scanned, if that is the policy', async () => {
    const { ours, recipient } = await withMailbox()
    const scanner = fakeScanner({ kind: 'unscanned', why: 'away' }, false)
    const deferring = inboundPipeline(ours, { scanner, policy: { dmarcReject: false, unscanned: 'defer' } })
    expect(await refusalOf(deferring.receive(mailTo([recipient], inMemory(message()))))).toBe('scanner_away')
    expect(await messagesOf(ours)).toHaveLength(0)
  })
})

describe('from a mail system (MAIL FROM:<>)', () => {
  const bounce = reportFixture('postfix')
  const plainBounce = reportFixture('exim-plain')
  const froms: Readonly<Record<string, readonly [fields: readonly string[], name: string]>> = {
    'no From': [[], ''],
    'an empty From': [['From:'], ''],
    'From: <>': [['From: <>'], ''],
    'From: MAILER-DAEMON <>': [['From: MAILER-DAEMON <>'], 'MAILER-DAEMON'],
    'From: MAILER-DAEMON': [['From: MAILER-DAEMON'], 'MAILER-DAEMON'],
    'From: "Mail Delivery System" <>': [['From: "Mail Delivery System" <>'], 'Mail Delivery System'],
    'From: <MAILER-DAEMON>': [['From: <MAILER-DAEMON>'], 'MAILER-DAEMON'],
  }
  for (const [what, [fields, name]] of Object.entries(froms)) {
    const withFields = (raw: string) =>
      `${[...fields, raw.replace(/^From:.*(?:\r?\n[ \t].*)*\r?\n/im, '')].join('\r\n')}`

    test(`a report with ${what} is filed as a report`, async () => {
      const { ours, recipient } = await withMailbox()
      const inbound = inboundPipeline(ours, { authenticator: fakeAuthenticator({ from: [] }) })
      for (const raw of [bounce, plainBounce])
        await inbound.receive(mailTo([recipient], inMemory(withFields(raw)), { mailFrom: '' }))
      const filed = { folder: 'inbox', folder_reason: 'report', from_name: name }
      expect(await messagesOf(ours)).toMatchObject([filed, filed])
    })

    test(`anything else with ${what} is spam`, async () => {
      const { ours, recipient } = await withMailbox()
      const inbound = inboundPipeline(ours, { authenticator: fakeAuthenticator({ from: [] }) })
      await inbound.receive(mailTo([recipient], inMemory(withFields(message())), { mailFrom: '' }))
      expect(await messagesOf(ours)).toMatchObject([{ folder: 'spam', folder_reason: 'from_unchecked' }])
    })

    test(`a report with ${what} from a sender with an address is refused`, async () => {
      const { ours, recipient } = await withMailbox()
      const inbound = inboundPipeline(ours, { authenticator: fakeAuthenticator({ from: [] }) })
      expect(await refusalOf(inbound.receive(mailTo([recipient], inMemory(withFields(bounce)))))).toBe('from_malformed')
    })
  }
})

describe('files in under two seconds', () => {
  const divs = `${'<div>'.repeat(50_000)}hi${'</div>'.repeat(50_000)}`
  const levels = Array.from(
    { length: 1000 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  )
  const attachment = '--b\r\nContent-Type: application/pdf\r\n\r\nx\r\n'
  for (const [what, raw] of [
    ['1,001 parts', message(['Content-Type: multipart/mixed; boundary=b'], '--b\r\n\r\nhi\r\n'.repeat(1001))],
    ['900 attachments', message(['Content-Type: multipart/mixed; boundary=b'], attachment.repeat(900))],
    ['1,000 levels', `From: a@x.test\r\n${levels.join('')}\r\nhi`],
    ['50,000 divs', message(['Content-Type: text/html'], divs)],
    ['a header of 300 KB', message([`X-Long: ${'x'.repeat(300_000)}`])],
    ['40,000 fields', message(Array(40_000).fill('X: y'))],
    [
      'a salad of charsets',
      message(
        ['Content-Type: multipart/mixed; boundary=b'],
        ['utf-7', 'iso-2022-jp', 'klingon', 'x'.repeat(900), 'utf-16', 'big5']
          .map(charset => `--b\r\nContent-Type: text/plain; charset="${charset}"\r\n\r\n\x1b$B\xff\xfe+AGE-\r\n`)
          .join(''),
      ),
    ],
  ] as const)
    test(what, async () => {
      const { ours, inbound, recipient } = await withMailbox()
      const started = performance.now()
      await inbound.receive(mailTo([recipient], inMemory(Buffer.from(raw, 'latin1'))))
      expect(performance.now() - started).toBeLessThan(2000)
      const [row] = await messagesOf(ours)
      expect(row?.from_address).toBe('a@x.test')
    })
})
