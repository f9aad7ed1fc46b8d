import { afterAll, describe, expect, test } from 'bun:test'
import { openDraftServer } from './fixtures.ts'

const { inbox, acme, call, newDraft, complete, refusalOf } = await openDraftServer()
afterAll(() => inbox.close())

describe('drafts', () => {
  test('are created with any fields or none, read, changed and deleted', async () => {
    const made = await call('POST', '/v1/drafts', { json: {} })
    const nothing = {
      id: expect.stringMatching(/^drf_[0-9a-z]{26}$/),
      brand_id: null,
      from: null,
      to: [],
      cc: [],
      bcc: [],
      reply_to: [],
      subject: null,
      text: null,
      in_reply_to: null,
      created_at: expect.stringMatching(/\.\d{6}Z$/),
      updated_at: made.json.created_at,
    }
    expect([made.status, made.json]).toEqual([201, nothing])
    const at = `/v1/drafts/${made.json.id}`
    expect((await call('GET', at)).json).toEqual(made.json)
    const given = { from: 'ann@', to: ['bob', 'Cy <cy@'], cc: 'dee@d.example', subject: 'H', text: 'T' }
    const changed = await call('PATCH', at, { json: given })
    expect(changed.json).toEqual({ ...made.json, ...given, cc: ['dee@d.example'], updated_at: changed.json.updated_at })
    expect(changed.json.updated_at > made.json.updated_at).toBe(true)
    const emptied = await call('PATCH', at, { json: { from: null, to: null, cc: [], subject: null, text: '' } })
    expect(emptied.json).toEqual({ ...made.json, updated_at: emptied.json.updated_at })
    expect((await call('DELETE', at)).json).toEqual({ id: made.json.id, deleted: true })
    for (const [method, path, what] of [
      ['GET', at, {}],
      ['PATCH', at, { json: { text: 'x' } }],
      ['DELETE', at, {}],
      ['POST', `${at}/send`, {}],
    ] as const)
      expect(await refusalOf(method, path, what)).toEqual([404, 'not_found', undefined])
  })

  test('have the brand of From, or the one that is given while From has none', async () => {
    const other = await inbox.createReceivingDomain()
    expect((await call('POST', '/v1/drafts', { json: complete() })).json.brand_id).toBe(acme.brandId)
    const given = (await call('POST', '/v1/drafts', { json: { brand_id: other.brandId } })).json
    expect(given.brand_id).toBe(other.brandId)
    const at = `/v1/drafts/${given.id}`
    expect((await call('PATCH', at, { json: { from: `a@${acme.domain}` } })).json.brand_id).toBe(acme.brandId)
    expect((await call('PATCH', at, { json: { text: 'x' } })).json.brand_id).toBe(acme.brandId)
    expect((await call('PATCH', at, { json: { from: null, brand_id: null } })).json.brand_id).toBe(null)
    const unknown = { json: { brand_id: 'brd_00000000000000000000000000' } }
    expect(await refusalOf('POST', '/v1/drafts', unknown)).toEqual([404, 'not_found', 'brand_id'])
  })

  test('have limits', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ from: 'a\r\nb@x.example' }, 'from'],
      [{ from: ['a@x.example'] }, 'from'],
      [{ to: ['a@x.example', 'b\n@x.example'] }, 'to[1]'],
      [{ to: 'x'.repeat(1025) }, 'to'],
      [{ bcc: Array.from({ length: 201 }, () => 'a@x.example') }, 'bcc'],
      [{ subject: 'a\nb' }, 'subject'],
      [{ subject: 'x'.repeat(999) }, 'subject'],
      [{ text: 'a\u0000b' }, 'text'],
      [{ text: 'ä'.repeat(1024 * 1024 + 1) }, 'text'],
      [{ html: '<p>' }, 'html'],
      [{ attachments: [] }, 'attachments'],
      [{ reply_to: [1] }, 'reply_to[0]'],
    ]
    for (const [json, param] of cases)
      expect(await refusalOf('POST', '/v1/drafts', { json })).toEqual([400, 'invalid_request', param])
    const { id } = await newDraft()
    expect((await refusalOf('PATCH', `/v1/drafts/${id}`, { json: {} }))[1]).toBe('invalid_request')
  })

  test('are left as they are when they changed since the caller read them', async () => {
    const { id, updated_at } = await newDraft(complete())
    const at = `/v1/drafts/${id}`
    const first = await call('PATCH', at, { json: { text: 'first', if_updated_at: updated_at } })
    expect(first.status).toBe(200)
    const second = await call('PATCH', at, { json: { text: 'second', if_updated_at: updated_at } })
    expect([second.status, second.json.error]).toMatchObject([
      409,
      { code: 'changed_since_read', requirement: 'read_again', retryable: false },
    ])
    expect((await call('GET', at)).json).toEqual(first.json)
    const again = await call('PATCH', at, { json: { text: 'second', if_updated_at: first.json.updated_at } })
    expect([again.status, again.json.text]).toEqual([200, 'second'])
    const unchanged = await call('PATCH', at, { json: { text: 'second', to: again.json.to } })
    expect(unchanged.json).toEqual(again.json)
    expect(await refusalOf('PATCH', at, { json: { text: 'x', if_updated_at: 'today' } })).toEqual([
      400,
      'invalid_request',
      'if_updated_at',
    ])
  })

  test('are closed to keys that are restricted to a brand, and to other organizations', async () => {
    const { id } = await newDraft(complete())
    const { key: restricted } = await inbox.server.newKey({ brandId: acme.brandId })
    const { key: stranger } = await inbox.server.newKey({ organizationId: await inbox.server.newOrganization() })
    const absent = 'drf_00000000000000000000000000'
    for (const [method, path, what] of [
      ['GET', '', {}],
      ['PATCH', '', { json: { text: 'mine' } }],
      ['DELETE', '', {}],
      ['POST', '/send', {}],
    ] as const) {
      const at = `/v1/drafts/${id}${path}`
      expect((await refusalOf(method, at, { key: restricted, ...what }))[1]).toBe('brand_restricted')
      const foreign = await call(method, at, { key: stranger, ...what })
      expect([foreign.status, foreign.json.error.code]).toEqual([404, 'not_found'])
      const unknown = await call(method, `/v1/drafts/${absent}${path}`, { key: stranger, ...what })
      expect(foreign.text.replace(id, absent)).toBe(unknown.text)
    }
    for (const [method, what] of [
      ['GET', {}],
      ['POST', { json: {} }],
    ] as const)
      expect((await refusalOf(method, '/v1/drafts', { key: restricted, ...what }))[0]).toBe(403)
    expect((await call('GET', '/v1/drafts', { key: stranger })).json).toEqual({ data: [], next_cursor: null })
    expect((await call('GET', `/v1/drafts/${id}`)).json.text).toBe('Hello Bob')
  })

  test('need their scopes, and sending one needs email:send too', async () => {
    const { key: reader } = await inbox.server.newKey({ scopes: ['drafts:read', 'email:send'] })
    const { key: writer } = await inbox.server.newKey({ scopes: ['drafts:write'] })
    for (const [method, path, key] of [
      ['GET', '', writer],
      ['GET', '/x', writer],
      ['POST', '', reader],
      ['PATCH', '/x', reader],
      ['DELETE', '/x', reader],
      ['POST', '/x/send', reader],
      ['POST', '/x/send', writer],
    ] as const)
      expect((await refusalOf(method, `/v1/drafts${path}`, { key }))[1]).toBe('insufficient_scope')
  })

  test('are listed newest first, page by page', async () => {
    const organizationId = await inbox.server.newOrganization()
    const { key } = await inbox.server.newKey({ organizationId })
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await newDraft({ text: `${i}` }, { key })).id)
    ids.sort().reverse()
    const first = (await call('GET', '/v1/drafts?limit=3', { key })).json
    const second = (await call('GET', `/v1/drafts?limit=3&cursor=${first.next_cursor}`, { key })).json
    expect([...first.data, ...second.data].map((draft: { id: string }) => draft.id)).toEqual(ids)
    expect(second.next_cursor).toBeNull()
    expect(await refusalOf('GET', '/v1/drafts?cursor=x', { key })).toEqual([400, 'invalid_cursor', 'cursor'])
  })

  test('answer a repeated Idempotency-Key with the first answer', async () => {
    const request = { json: { text: 'once' }, headers: { 'idempotency-key': 'draft-made-once' } }
    const first = await call('POST', '/v1/drafts', request)
    const again = await call('POST', '/v1/drafts', request)
    expect([again.status, again.headers.get('idempotent-replay'), again.text]).toEqual([201, 'true', first.text])
  })
})
