import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { addMember } from '../../src/accounts/members/members.ts'
import { sendDueNotices, type WebhookNoticeDeps } from '../../src/app/webhook-notice.ts'
import { type Clock, dayMs, hourMs, systemClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { disableWebhook, enabledState } from '../../src/events/webhooks/disable.ts'
import type { DisabledReason } from '../../src/events/webhooks/disabled-reason.ts'
import { insertWebhook, lockWebhook, selectAnyWebhook, updateWebhook } from '../../src/events/webhooks/table.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { openSending } from '../../src/sending/accept/open-sending.ts'
import { createSendingDomain, type SendingDomain } from '../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { testClock } from '../harness/http-server.ts'
import { killAtWrite } from '../harness/kill-at-write.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { until } from '../harness/until.ts'
import { webhookRow } from '../harness/webhook-row.ts'

const signal = new AbortController().signal

const addOwner = (db: Db, organizationId: Id<'org'>, clock: Clock = systemClock) =>
  addMember(db, { organizationId, email: 'owner@people.example', name: 'Owner', access: { role: 'owner' } }, clock)

/** The notices among the emails of an organization. */
const noticesOf = (db: Db, organizationId: Id<'org'>) =>
  db
    .selectFrom('emails')
    .select(['id', 'subject', 'from_address'])
    .where('organization_id', '=', organizationId)
    .where('subject', 'like', 'A webhook is disabled%')
    .execute()

describe('the email to the owners that a webhook is disabled', () => {
  const clock = testClock()
  let database: FreshDatabase
  let shop: SendingDomain
  let deps: WebhookNoticeDeps
  let domains = 0

  beforeAll(async () => {
    database = await freshDatabase(4)
    const { db } = database
    const provider = { provider: 'sandbox', publicUrl: 'http://localhost', wake: () => undefined }
    const sending = openSending({ db, blobs: mysqlBlobs(db, clock), clock, ...provider })
    deps = { db, clock, log: pino({ level: 'silent' }), sending }
  })
  afterAll(async () => {
    await deps?.sending.renderer.close()
    await database?.close()
  })
  beforeEach(async () => {
    shop = await createSendingDomain(database.db, clock.now(), `shop${++domains}.test`)
  })

  /** A webhook that was disabled for this reason. */
  async function disabled(reason: DisabledReason): Promise<Id<'whk'>> {
    const now = clock.now()
    const created = webhookRow(shop.organizationId, now)
    await insertWebhook(database.db, created)
    await database.db.transaction().execute(async tx => {
      const row = await lockWebhook(tx, created.id)
      if (row) await disableWebhook(tx, row, { reason, now, operator: null })
    })
    return created.id
  }

  const isOwed = async (id: Id<'whk'>) => (await selectAnyWebhook(database.db, id))?.notice_due_at != null

  test('goes once, from their own first verified domain, whichever processes look at the same time', async () => {
    const { db } = database
    await addOwner(db, shop.organizationId)
    await addMember(
      db,
      { organizationId: shop.organizationId, email: 'admin@people.example', name: 'A', access: { role: 'admin' } },
      clock,
    )
    const id = await disabled('failing')
    await Promise.all([1, 2, 3].map(() => sendDueNotices(deps, signal)))
    await sendDueNotices(deps, signal)
    expect(await noticesOf(db, shop.organizationId)).toMatchObject([
      { subject: 'A webhook is disabled: hooks.example.com', from_address: `mailroom@${shop.domain}` },
    ])
    const [{ id: emailId } = { id: newId('eml') }] = await noticesOf(db, shop.organizationId)
    expect(await db.selectFrom('email_recipients').select('email').where('email_id', '=', emailId).execute()).toEqual([
      { email: 'owner@people.example' },
    ])
    expect(await isOwed(id)).toBe(false)
  })

  test('waits for an owner and a verified domain, and is given up after three days', async () => {
    const { db } = database
    const id = await disabled('gone')
    await sendDueNotices(deps, signal)
    await addOwner(db, shop.organizationId, clock)
    await db.updateTable('domains').set({ status: 'pending' }).where('id', '=', shop.domainId).execute()
    // Not before an hour has passed.
    await sendDueNotices(deps, signal)
    clock.forward(hourMs)
    await sendDueNotices(deps, signal)
    expect([await noticesOf(db, shop.organizationId), await isOwed(id)]).toEqual([[], true])
    await db.updateTable('domains').set({ status: 'verified' }).where('id', '=', shop.domainId).execute()
    clock.forward(hourMs)
    await sendDueNotices(deps, signal)
    expect([(await noticesOf(db, shop.organizationId)).length, await isOwed(id)]).toEqual([1, false])

    const other = await disabled('not_allowed')
    await db.updateTable('domains').set({ status: 'pending' }).where('id', '=', shop.domainId).execute()
    await sendDueNotices(deps, signal)
    expect(await isOwed(other)).toBe(true)
    clock.forward(3 * dayMs)
    await sendDueNotices(deps, signal)
    expect([(await noticesOf(db, shop.organizationId)).length, await isOwed(other)]).toEqual([1, false])
  })

  test('is not owed where somebody asked for it, nor once the webhook is enabled', async () => {
    const { db } = database
    await addOwner(db, shop.organizationId)
    for (const reason of ['requested', 'operator'] as const) expect(await isOwed(await disabled(reason))).toBe(false)
    const id = await disabled('failing')
    await updateWebhook(db, id, enabledState)
    await sendDueNotices(deps, signal)
    expect(await noticesOf(db, shop.organizationId)).toEqual([])
  })
})

describe('where the process is killed while it sends the email', () => {
  let mailroom: Mailroom
  const receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('', { status: 410 }) })

  beforeAll(async () => {
    mailroom = await startMailroom({ MAILROOM_WEBHOOK_ALLOW: '127.0.0.0/8', MAILROOM_WEBHOOK_HTTP: 'true' })
  }, 60_000)
  afterAll(async () => {
    await receiver.stop(true)
    await mailroom?.stop()
  }, 60_000)

  test('the next process sends it, once', async () => {
    const { database, demo, api } = mailroom
    const organizationId = demo.organization_id
    await addOwner(database.db, organizationId)
    const url = `http://127.0.0.1:${receiver.port}/hook`
    const webhook = (await api('POST', '/v1/webhooks', { url, types: ['suppression.created'] })).json
    const notice = { table: 'emails', write: 'INSERT', when: "NEW.subject LIKE 'A webhook is disabled%'" } as const
    await killAtWrite(mailroom, notice, async () => {
      await api('POST', '/v1/suppressions', { brand_id: demo.brand_id, email: 'gone@friend.test' })
    })
    await until(async () => (await noticesOf(database.db, organizationId)).length > 0, {
      what: 'the owners get an email',
    })
    const row = await selectAnyWebhook(database.db, webhook.id)
    expect(row).toMatchObject({ disabled_reason: 'gone', notice_due_at: null })
    expect(await noticesOf(database.db, organizationId)).toHaveLength(1)
  }, 60_000)
})
