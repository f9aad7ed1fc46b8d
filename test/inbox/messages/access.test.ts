import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Scope } from '../../../src/api/scope.ts'
import { newId } from '../../../src/base/ids.ts'
import { multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { until } from '../../harness/until.ts'

let inbox: TestInbox
let us: ReceivingDomain
let ourId: string
let attachmentId: string

beforeAll(async () => {
  inbox = await openTestInbox({ indexes: true })
  us = await inbox.createReceivingDomain()
  const disposition = 'attachment; filename=a.txt'
  ourId = await inbox.deliver(multipart([{ bytes: 'Hi unicorn.' }, { disposition, bytes: 'a' }]), `hello@${us.domain}`)
  const { json } = await inbox.server.call('GET', `/v1/inbox/${ourId}`)
  attachmentId = json.attachments[0].id
})
afterAll(() => inbox.close())

/** Every operation on one message. */
const operations = (id: string) =>
  [
    ['GET', `/v1/inbox/${id}`, undefined, 'inbox:read'],
    ['HEAD', `/v1/inbox/${id}`, undefined, 'inbox:read'],
    ['GET', `/v1/inbox/${id}/raw`, undefined, 'inbox:read'],
    ['GET', `/v1/inbox/${id}/attachments/${attachmentId}`, undefined, 'inbox:read'],
    ['DELETE', `/v1/inbox/${id}`, undefined, 'inbox:write'],
    ['POST', `/v1/inbox/${id}/folder`, { folder: 'spam' }, 'inbox:write'],
    ['POST', `/v1/inbox/${id}/star`, { starred: true }, 'inbox:write'],
    ['POST', `/v1/inbox/${id}/read`, { read: true }, 'inbox:write'],
    ['POST', `/v1/inbox/${id}/restore`, undefined, 'inbox:write'],
  ] as const

const call = (method: string, path: string, json: object | undefined, key: string) =>
  inbox.server.call(method, path, { key, ...(json ? { json } : {}) })

const stored = () =>
  inbox.server.database.db
    .selectFrom('messages')
    .select(['folder', 'starred', 'is_read'])
    .where('id', '=', ourId as ReturnType<typeof newId<'msg'>>)
    .executeTakeFirstOrThrow()

test("another organization's message is not found, as if it did not exist", async () => {
  const { key } = await inbox.server.newKey({ organizationId: await inbox.server.newOrganization() })
  const before = await stored()
  const none = newId('msg')
  for (const [i, [method, path, json]] of operations(ourId).entries()) {
    const theirs = await call(method, path, json, key)
    const [, nowhere = ''] = operations(none)[i] ?? []
    const missing = await call(method, nowhere, json, key)
    expect([method, path, theirs.status, theirs.text]).toEqual([
      method,
      path,
      404,
      missing.text.replaceAll(none, ourId),
    ])
    expect(missing.status).toBe(404)
  }
  expect(await stored()).toEqual(before)
  expect((await inbox.server.call('GET', '/v1/inbox', { key })).json.data).toEqual([])
  const list = `/v1/inbox?mailbox_id=${us.mailboxId}`
  expect((await inbox.server.call('GET', list, { key })).json.data).toEqual([])
  expect((await inbox.server.call('GET', list)).json.data).toHaveLength(1)
})

test.each(['x', 'msg_x', '%C3%A9', 'a%00b', 'm'.repeat(300)])('the message %s is not found', async id => {
  for (const [method, path, json] of operations(id))
    expect([method, path, (await call(method, path, json, inbox.server.key)).status]).toEqual([method, path, 404])
})

test("another brand's message is refused by id, and left out of lists", async () => {
  const other = await inbox.createReceivingDomain()
  const { key } = await inbox.server.newKey({ brandId: other.brandId })
  const theirs = await inbox.deliver(multipart([{ bytes: 'A unicorn too.' }]), `hello@${other.domain}`)
  const before = await stored()
  for (const [method, path, json] of operations(ourId)) {
    const refused = await call(method, path, json, key)
    expect([method, path, refused.status]).toEqual([method, path, 403])
    if (method !== 'HEAD') {
      expect(refused.json.error).toMatchObject({ code: 'brand_restricted', requirement: 'use_organization_key' })
      expect(refused.text).not.toContain('unicorn')
    }
  }
  expect(await stored()).toEqual(before)
  const listed = async (query: string) =>
    (await inbox.server.call('GET', `/v1/inbox${query}`, { key })).json.data.map((item: { id: string }) => item.id)
  expect(await listed('')).toEqual([theirs])
  expect(await listed(`?mailbox_id=${us.mailboxId}`)).toEqual([])
  await until(async () => (await listed('/search?q=unicorn')).length > 0)
  expect(await listed('/search?q=unicorn')).toEqual([theirs])
  expect((await inbox.server.call('GET', '/v1/inbox/search?q=unicorn')).json.data).toHaveLength(2)
})

test('each operation needs its scope', async () => {
  const keyWith = async (scopes: readonly Scope[]) => (await inbox.server.newKey({ scopes })).key
  const keys = { 'inbox:read': await keyWith(['inbox:read']), 'inbox:write': await keyWith(['inbox:write']) }
  const lists = ['/v1/inbox', '/v1/inbox/search?q=x'].map(path => ['GET', path, undefined, 'inbox:read'] as const)
  for (const [method, path, json, scope] of [...lists, ...operations(ourId)]) {
    const lacking = scope === 'inbox:read' ? keys['inbox:write'] : keys['inbox:read']
    expect([method, path, (await call(method, path, json, lacking)).status]).toEqual([method, path, 403])
    expect([method, path, (await call(method, path, json, keys[scope])).status === 403]).toEqual([method, path, false])
  }
})
