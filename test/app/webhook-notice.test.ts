import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { addMember } from '../../src/accounts/members/members.ts'
import { notifyOwners } from '../../src/app/webhook-notice.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { WebhookRow } from '../../src/events/webhooks/table.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { openSending, type SendDeps } from '../../src/sending/accept/open-sending.ts'
import { createSendingDomain, type SendingDomain } from '../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
let shop: SendingDomain
let sending: SendDeps

beforeAll(async () => {
  database = await freshDatabase(4)
  const { db } = database
  shop = await createSendingDomain(db, systemClock.now())
  sending = openSending({
    db,
    blobs: mysqlBlobs(db, systemClock),
    clock: systemClock,
    provider: 'sandbox',
    publicUrl: 'http://localhost',
    wake: () => undefined,
  })
})
afterAll(async () => {
  await sending?.renderer.close()
  await database?.close()
})

test('the owners are told by an email of their own first verified domain that a webhook is disabled', async () => {
  const { db } = database
  const { organizationId } = shop
  const add = (email: string, role: 'owner' | 'admin') =>
    addMember(db, { organizationId, email, name: email, access: { role } }, systemClock)
  const deps = { db, log: pino({ level: 'silent' }), sending }
  const webhook = { id: 'whk_1', organization_id: organizationId, url: 'https://hooks.example.com/in?token=x' }
  await notifyOwners(deps, webhook as WebhookRow, 'failing')
  expect(await db.selectFrom('emails').select('id').execute()).toEqual([])

  await add('owner@people.example', 'owner')
  await add('admin@people.example', 'admin')
  await notifyOwners(deps, webhook as WebhookRow, 'failing')
  const emails = await db.selectFrom('emails').select(['id', 'subject', 'from_address']).execute()
  expect(emails).toMatchObject([
    { subject: 'A webhook is disabled: hooks.example.com', from_address: `mailroom@${shop.domain}` },
  ])
  const recipients = await db.selectFrom('email_recipients').select('email').execute()
  expect(recipients).toEqual([{ email: 'owner@people.example' }])
})
