import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { selectAuditEntries } from '../../../src/accounts/audit/table.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import { quarantineCommand } from '../../../src/cli/quarantine.ts'
import { quarantineSessionRoutes } from '../../../src/inbox/quarantine/session-routes.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { outputOf } from '../../harness/command-output.ts'
import { infectedBytes, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { operatorEmail, operatorIp, type SessionClient, sessionClient } from '../../harness/session-client.ts'
import { zipOf } from '../../harness/zip.ts'

let inbox: TestInbox
let us: ReceivingDomain
let client: SessionClient

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  const { db } = inbox.server.database
  client = sessionClient([quarantineSessionRoutes({ db, clock: systemClock, blobs: mysqlBlobs(db, systemClock) })])
})
afterAll(() => inbox.close())

const path = '/app/api/instance/quarantine'
const act = async (action: string, body: object) => (await client.post(`${path}/${action}`, body)).json
const command = async (...args: string[]) =>
  (await outputOf(quarantineCommand, args, { MAILROOM_DATABASE_URL: inbox.server.database.url })).json
const to = () => `hello@${us.domain}`

/** Delivers an infected message; gives its id and the SHA-256 of its attachment. */
async function deliverInfected() {
  const bytes = zipOf(`w${randomBytes(6).toString('hex')}.com`, infectedBytes)
  const part = { contentType: 'application/zip', disposition: 'attachment; filename=a.zip', bytes }
  const id = await inbox.deliver(multipart([part]), to())
  return { id, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}

test('lists the newest first, page by page, and shows the header and what was done', async () => {
  const ids = [(await deliverInfected()).id, (await deliverInfected()).id, (await deliverInfected()).id]
  const first = (await client.get(`${path}?limit=2`)).json
  expect(first.data.map((row: { id: string }) => row.id)).toEqual([ids[2], ids[1]])
  const second = (await client.get(`${path}?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).json
  expect(second).toMatchObject({ data: [{ id: ids[0], scan: 'infected', rcpt_to: to() }], next_cursor: null })
  expect(await command('list')).toEqual([...first.data, ...second.data])
  const shown = (await client.get(`${path}/${ids[0]}`)).json
  expect(shown.header).toContain('Content-Type: multipart/')
  expect(shown.audit).toEqual([])
  expect((await client.get(`${path}?cursor=x`)).status).toBe(400)
})

test('releases all of a hash after a count, with the entry that the command writes', async () => {
  const { id, bytes, sha256 } = await deliverInfected()
  const part = { contentType: 'image/png', disposition: 'attachment; filename=b.png', bytes }
  const twin = await inbox.deliver(multipart([part, { bytes: 'Look.' }]), to())
  expect(await act('release', { sha256, dry_run: true })).toMatchObject({ dry_run: true, count: 2, infected: 2 })
  expect(await command('release', '--sha256', sha256, '--dry-run')).toMatchObject({ count: 2 })
  expect(await act('release', { sha256: sha256.toUpperCase() })).toMatchObject({ count: 2, next_cursor: null })
  for (const released of [id, twin])
    expect((await inbox.server.call('GET', `/v1/inbox/${released}`)).json).toMatchObject({
      folder: 'inbox',
      folder_reason: 'released',
      scan: 'infected',
    })
  const { db } = inbox.server.database
  const [byPerson] = await selectAuditEntries(db, { subject: id }, { limit: 1 })
  expect(byPerson).toMatchObject({ actor: operatorEmail, ip: operatorIp, action: 'quarantine.release' })
  const other = await deliverInfected()
  await command('release', other.id)
  const [byCommand] = await selectAuditEntries(db, { subject: other.id }, { limit: 1 })
  const keys = (row: typeof byPerson) => Object.keys(fromJson(row?.detail ?? '{}')).filter(key => key !== 'asked_for')
  expect(keys(byCommand)).toEqual(keys(byPerson))
})

test('scans again what could not be scanned, and deletes for good', async () => {
  const unscanned = await inbox.deliver(multipart([{ bytes: 'Hello.' }]), to(), { unscanned: true })
  const infected = await deliverInfected()
  expect((await client.get(`${path}?reason=unscanned`)).json.data).toMatchObject([{ id: unscanned, scan: 'error' }])
  const before = (await client.get(`${path}/${unscanned}`)).json.rescan_at
  expect(await act('rescan', { ids: [unscanned, infected.id] })).toMatchObject({
    count: 1,
    not_in_quarantine: [infected.id],
  })
  expect((await client.get(`${path}/${unscanned}`)).json.rescan_at < before).toBe(true)
  expect(await act('delete', { ids: [infected.id] })).toMatchObject({ count: 1, infected: 1 })
  expect((await client.get(`${path}/${infected.id}`)).status).toBe(404)
})

test.each([
  [{}, 'ids, or sha256'],
  [{ ids: ['msg_x'] }, 'no id of a message'],
  [{ sha256: 'abc' }, 'SHA-256'],
])('refuses the selection %p', async (body, message) => {
  expect((await act('delete', body)).error.message).toContain(message)
})
