import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '../../../src/base/ids.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain
let reader: string
let id: string

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  reader = (await inbox.server.newKey({ scopes: ['inbox:read'] })).key
})
afterAll(() => inbox.close())
beforeEach(async () => {
  id = await inbox.deliver(messageOf(), `hello@${us.domain}`)
})

const get = (key?: string, method = 'GET') =>
  inbox.server.call(method, `/v1/inbox/${id}`, key === undefined ? {} : { key })
const post = (what: string, json?: object) =>
  inbox.server.call('POST', `/v1/inbox/${id}/${what}`, json === undefined ? {} : { json })
const listed = async (folder: string) =>
  (await inbox.server.call('GET', `/v1/inbox?folder=${folder}&limit=200`)).json.data.find(
    (item: { id: string }) => item.id === id,
  )

describe('reading a message', () => {
  test('marks it as read if the key may write, and the response shows it so', async () => {
    expect((await listed('inbox')).read).toBe(false)
    expect((await get()).json.read).toBe(true)
    expect((await listed('inbox')).read).toBe(true)
    expect((await get()).json.read).toBe(true)
  })

  test('does not mark it as read if the key may not write', async () => {
    expect((await get(reader)).json.read).toBe(false)
    expect((await listed('inbox')).read).toBe(false)
    await get()
    expect((await get(reader)).json.read).toBe(true)
  })

  test('with HEAD has no effect', async () => {
    const { status, headers, text } = await get(undefined, 'HEAD')
    expect([status, text]).toEqual([200, ''])
    expect(Number(headers.get('content-length'))).toBeGreaterThan(500)
    expect((await listed('inbox')).read).toBe(false)
  })

  test('is the only request that marks it as read', async () => {
    await inbox.server.call('GET', `/v1/inbox/${id}/raw`)
    await inbox.server.call('GET', `/v1/inbox?mailbox_id=${us.mailboxId}`)
    expect((await listed('inbox')).read).toBe(false)
  })
})

test('the read flag is set and cleared', async () => {
  expect(await post('read', { read: true })).toMatchObject({ status: 200, json: { id, read: true } })
  expect((await listed('inbox')).read).toBe(true)
  expect(await post('read', { read: false })).toMatchObject({ status: 200, json: { id, read: false } })
  expect(await post('read', { read: false })).toMatchObject({ status: 200, json: { id, read: false } })
  expect(await listed('inbox')).toMatchObject({ read: false, folder: 'inbox', starred: false })
})

test('the star is set and cleared', async () => {
  expect(await post('star', { starred: true })).toMatchObject({ status: 200, json: { id, starred: true } })
  expect(await listed('inbox')).toMatchObject({ starred: true, folder: 'inbox', read: false })
  expect(await post('star', { starred: false })).toMatchObject({ status: 200, json: { id, starred: false } })
  expect((await listed('inbox')).starred).toBe(false)
})

test('a message is moved to any folder', async () => {
  for (const folder of ['spam', 'archive', 'trash', 'quarantine', 'inbox', 'inbox']) {
    const moved = await post('folder', { folder })
    expect([moved.status, moved.json]).toEqual([200, { id, folder }])
    expect((await listed(folder)).folder).toBe(folder)
  }
  expect(await listed('quarantine')).toBeUndefined()
})

test('a deleted message is in the trash, and can be restored', async () => {
  await post('star', { starred: true })
  const deleted = await inbox.server.call('DELETE', `/v1/inbox/${id}`)
  expect([deleted.status, deleted.json]).toEqual([200, { id, folder: 'trash' }])
  expect(await listed('inbox')).toBeUndefined()
  expect(await listed('trash')).toMatchObject({ folder: 'trash', starred: true })
  expect((await inbox.server.call('DELETE', `/v1/inbox/${id}`)).json).toEqual({ id, folder: 'trash' })
  const restored = await post('restore')
  expect([restored.status, restored.json]).toEqual([200, { id, folder: 'inbox' }])
  expect(await listed('inbox')).toMatchObject({ folder: 'inbox', starred: true })
  expect(await post('restore')).toMatchObject({
    status: 409,
    json: { error: { code: 'not_in_trash', requirement: 'none', retryable: false } },
  })
})

test.each([
  ['folder', {}, 'folder'],
  ['folder', { folder: 'drafts' }, 'folder'],
  ['folder', { folder: null }, 'folder'],
  ['folder', { folder: ['inbox'] }, 'folder'],
  ['folder', { folder: 'spam', more: 1 }, 'more'],
  ['star', {}, 'starred'],
  ['star', { starred: 'yes' }, 'starred'],
  ['star', { starred: 1 }, 'starred'],
  ['read', {}, 'read'],
  ['read', { read: null }, 'read'],
  ['restore', { folder: 'spam' }, 'folder'],
])('POST …/%s %p is refused', async (what, json, param) => {
  expect(await post(what, json)).toMatchObject({ status: 400, json: { error: { code: 'invalid_request', param } } })
})

describe('many messages at once', () => {
  const bulk = (json: object, key = inbox.server.key) => inbox.server.call('POST', '/v1/inbox/bulk', { json, key })
  const deliver = () => inbox.deliver(messageOf(), `hello@${us.domain}`)

  test('get the same folder or flag; those that do not exist are listed', async () => {
    const ids = [id, await deliver(), await deliver()]
    const untouched = await deliver()
    const mixed = [...ids, 'x', newId('msg'), 'é', ids[0]]
    const starred = await bulk({ ids: mixed, starred: true })
    expect([starred.status, starred.json]).toEqual([200, { updated: ids, not_found: mixed.slice(3, 6) }])
    expect(await bulk({ ids, read: true })).toMatchObject({ json: { updated: ids, not_found: [] } })
    expect(await bulk({ ids, folder: 'archive' })).toMatchObject({ json: { updated: ids } })
    for (const value of ids) {
      id = value
      expect(await listed('archive')).toMatchObject({ starred: true, read: true })
    }
    id = untouched
    expect(await listed('inbox')).toMatchObject({ starred: false, read: false })
  })

  test('of other tenants are treated as if they did not exist', async () => {
    const { key } = await inbox.server.newKey({ organizationId: await inbox.server.newOrganization() })
    const brand = (await inbox.createReceivingDomain()).brandId
    const restricted = (await inbox.server.newKey({ brandId: brand })).key
    for (const stranger of [key, restricted])
      expect(await bulk({ ids: [id], folder: 'trash' }, stranger)).toMatchObject({
        status: 200,
        json: { updated: [], not_found: [id] },
      })
    expect(await listed('inbox')).toMatchObject({ folder: 'inbox' })
  })

  test.each([
    [{}, undefined],
    [{ folder: 'spam', read: true }, undefined],
    [{ read: true, starred: false }, undefined],
    [{ ids: [], read: true }, 'ids'],
    [{ ids: Array(201).fill('x'), read: true }, 'ids'],
    [{ ids: [1], read: true }, 'ids[0]'],
    [{ folder: 'drafts' }, 'folder'],
    [{ read: true, more: 1 }, 'more'],
  ])('with %p is refused', async (json, param) => {
    const { status, json: answer } = await bulk({ ids: [id], ...json })
    expect([status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_request', param])
  })

  test('need inbox:write', async () => {
    expect((await bulk({ ids: [id], read: true }, reader)).status).toBe(403)
  })
})

test('a message outlives its mailbox', async () => {
  const { domainId, domain } = us
  const json = { domain_id: domainId, local_part: 'passing' }
  const mailbox = (await inbox.server.call('POST', '/v1/mailboxes', { json })).json.id
  id = await inbox.deliver(messageOf(), `passing@${domain}`)
  expect((await listed('inbox')).mailbox_id).toBe(mailbox)
  expect(await inbox.server.call('DELETE', `/v1/mailboxes/${mailbox}`)).toMatchObject({ status: 200 })
  const expected = { mailbox_id: null, brand_id: us.brandId, address: `passing@${domain}` }
  expect(await listed('inbox')).toMatchObject(expected)
  expect((await get()).json).toMatchObject({ ...expected, text: 'Hello.\n' })
  const { key } = await inbox.server.newKey({ brandId: us.brandId })
  expect((await get(key)).json).toMatchObject(expected)
  expect(await post('star', { starred: true })).toMatchObject({ status: 200 })
})

test('a flag with an Idempotency-Key is set once', async () => {
  const headers = { 'Idempotency-Key': 'mark-once-1' }
  const path = `/v1/inbox/${id}/star`
  const first = await inbox.server.call('POST', path, { json: { starred: true }, headers })
  await post('star', { starred: false })
  const again = await inbox.server.call('POST', path, { json: { starred: true }, headers })
  expect([again.status, again.json, again.headers.get('idempotent-replay')]).toEqual([200, first.json, 'true'])
  expect((await listed('inbox')).starred).toBe(false)
})
