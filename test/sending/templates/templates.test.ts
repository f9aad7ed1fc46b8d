import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/base/ids.ts'
import type { SendDeps } from '../../../src/sending/accept/open-sending.ts'
import { templateRoutes } from '../../../src/sending/templates/routes.ts'
import { expectConditionalChange } from '../../harness/conditional-change.ts'
import { type CallOptions, openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { makeDomain, sendingOn } from '../fixtures.ts'

let server: TestHttpServer
let sending: SendDeps
let brandId: Id<'brd'>
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => {
      sending = sendingOn(db, clock)
      return [templateRoutes({ db, clock, renderer: sending.renderer })]
    },
  })
  brandId = (await makeDomain(server.database.db, server.organizationId, 'acme.example')).brandId
})
afterAll(async () => {
  sending.renderer.close()
  await server.close()
})

let slugs = 0
async function newTemplate(fields: object = {}, call: CallOptions = {}) {
  const json = { brand_id: brandId, slug: `template-${++slugs}`, ...fields }
  const { status, json: made } = await server.call('POST', '/v1/templates', { ...call, json })
  if (status !== 201) throw new Error(JSON.stringify(made))
  return made as { id: string; slug: string; created_at: string; updated_at: string }
}

async function refusalOf(method: string, path: string, what: CallOptions = {}) {
  const { status, json } = await server.call(method, path, what)
  return [status, json.error?.code, json.error?.param]
}

const welcome = {
  subject: 'Welcome, {{ name }}',
  text: 'Hello {{ name }}, from {{ shop }}.',
  html: '<p>Hello {{ name }}, from {{ shop }}.</p>',
  variables: [
    { name: 'name', required: true },
    { name: 'shop', default: 'Acme & Co' },
  ],
}

describe('templates', () => {
  test('are created, read, changed and deleted', async () => {
    const made = await server.call('POST', '/v1/templates', {
      json: { brand_id: brandId, slug: 'whole', name: 'Whole', ...welcome },
    })
    expect([made.status, made.json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^tpl_[0-9a-z]{26}$/),
        brand_id: brandId,
        slug: 'whole',
        name: 'Whole',
        subject: welcome.subject,
        text: welcome.text,
        html: welcome.html,
        variables: [
          { name: 'name', required: true, default: null },
          { name: 'shop', required: false, default: 'Acme & Co' },
        ],
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        updated_at: made.json.created_at,
      },
    ])
    const at = `/v1/templates/whole?brand_id=${brandId}`
    expect((await server.call('GET', at)).json).toEqual(made.json)
    const changed = await server.call('PATCH', at, { json: { html: null, name: 'Half', variables: [] } })
    expect(changed.json).toEqual({
      ...made.json,
      html: null,
      name: 'Half',
      variables: [],
      updated_at: changed.json.updated_at,
    })
    expect(changed.json.updated_at > made.json.updated_at).toBe(true)
    expect((await server.call('DELETE', at)).json).toEqual({ id: made.json.id, deleted: true })
    for (const method of ['GET', 'DELETE']) expect(await refusalOf(method, at)).toEqual([404, 'not_found', undefined])
  })

  test('are changed only if they are as their caller read them', async () => {
    const { slug } = await newTemplate(welcome)
    const path = `/v1/templates/${slug}?brand_id=${brandId}`
    await expectConditionalChange(server, path, [{ subject: 'First' }, { subject: 'Second' }])
  })

  test('have a slug that is unique in the brand, also under concurrent requests', async () => {
    const json = { brand_id: brandId, slug: 'once' }
    const calls = await Promise.all([1, 2, 3, 4].map(() => server.call('POST', '/v1/templates', { json })))
    expect(calls.map(call => call.status).sort()).toEqual([201, 409, 409, 409])
    expect(await refusalOf('POST', '/v1/templates', { json })).toEqual([409, 'slug_taken', 'slug'])
    const other = await newTemplate()
    const at = `/v1/templates/${other.slug}?brand_id=${brandId}`
    expect(await refusalOf('PATCH', at, { json: { slug: 'once' } })).toEqual([409, 'slug_taken', 'slug'])
    expect((await server.call('PATCH', at, { json: { slug: other.slug } })).status).toBe(200)
    expect((await server.call('PATCH', at, { json: { slug: 'moved' } })).json.slug).toBe('moved')
    expect(await refusalOf('GET', at)).toEqual([404, 'not_found', undefined])
    const { brandId: second } = await makeDomain(server.database.db, server.organizationId, 'second.example')
    expect((await server.call('POST', '/v1/templates', { json: { ...json, brand_id: second } })).status).toBe(201)
  })

  test('answer a repeated Idempotency-Key with the first answer', async () => {
    const request = { json: { brand_id: brandId, slug: 'twice' }, headers: { 'idempotency-key': 'template-twice' } }
    const first = await server.call('POST', '/v1/templates', request)
    const again = await server.call('POST', '/v1/templates', request)
    expect([again.status, again.headers.get('idempotent-replay'), again.text]).toEqual([201, 'true', first.text])
    const removal = { headers: { 'idempotency-key': 'template-gone' } }
    const at = `/v1/templates/twice?brand_id=${brandId}`
    const gone = await server.call('DELETE', at, removal)
    expect((await server.call('DELETE', at, removal)).text).toBe(gone.text)
  })

  test('are checked before they are stored', async () => {
    const slug = 'faulty'
    for (const [part, source] of [
      ['subject', '{{ name'],
      ['text', '{% if a %}'],
      ['html', '{% include "x" %}'],
      ['html', '{{ a | frobnicate }}'],
      ['html', '{% if a %}'.repeat(5000) + '{% endif %}'.repeat(5000)],
    ]) {
      const json = { brand_id: brandId, slug, [part ?? '']: source }
      expect(await refusalOf('POST', '/v1/templates', { json })).toEqual([422, 'template_invalid', part])
    }
    const { json } = await server.call('POST', '/v1/templates', { json: { brand_id: brandId, slug, html: 'a\n{{ b' } })
    expect(json.error.message).toMatch(/html.*not closed.*line:2, col:1/)
    const kept = await newTemplate({ text: 'x' })
    const at = `/v1/templates/${kept.slug}?brand_id=${brandId}`
    expect(await refusalOf('PATCH', at, { json: { text: '{{' } })).toEqual([422, 'template_invalid', 'text'])
    expect((await server.call('GET', at)).json).toEqual(kept)
  })

  test('have limits', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ slug: 'A b' }, 'slug'],
      [{ slug: undefined }, 'slug'],
      [{ name: '' }, 'name'],
      [{ name: 'a\nb' }, 'name'],
      [{ subject: 'x'.repeat(999) }, 'subject'],
      [{ html: 'ä'.repeat(256 * 1024 + 1) }, 'html'],
      [{ text: 'x'.repeat(512 * 1024 + 1) }, 'text'],
      [{ variables: [{ name: 'a b' }] }, 'variables[0].name'],
      [{ variables: [{ name: 'a' }, { name: 'a' }] }, 'variables[1].name'],
      [{ variables: [{ name: 'a', type: 'string' }] }, 'variables[0].type'],
      [{ variables: [{ name: 'a', default: 'x'.repeat(70_000) }] }, 'variables'],
      [{ variables: Array.from({ length: 101 }, (_, i) => ({ name: `v${i}` })) }, 'variables'],
      [{ body: 'x' }, 'body'],
    ]
    for (const [fields, param] of cases) {
      const json = { brand_id: brandId, slug: 'limits', ...fields }
      expect(await refusalOf('POST', '/v1/templates', { json })).toEqual([400, 'invalid_request', param])
    }
    const kept = await newTemplate({ html: 'x'.repeat(512 * 1024) })
    const at = `/v1/templates/${kept.slug}?brand_id=${brandId}`
    for (const [json, param] of [
      [{}, undefined],
      [{ name: null }, 'name'],
      [{ variables: null }, 'variables'],
    ] as const)
      expect(await refusalOf('PATCH', at, { json })).toEqual([400, 'invalid_request', param])
  })

  test('need a brand, which a restricted key implies', async () => {
    const kept = await newTemplate({ text: 'x' })
    const at = `/v1/templates/${kept.slug}`
    const nameless = { json: { slug: 'nameless' } }
    const every = [
      ['POST', '/v1/templates', nameless],
      ['GET', at, {}],
      ['PATCH', at, { json: { name: 'New' } }],
      ['DELETE', at, {}],
      ['POST', `${at}/preview`, { json: {} }],
    ] as const
    for (const [method, path, what] of every)
      expect(await refusalOf(method, path, what)).toEqual([400, 'brand_required', 'brand_id'])

    const { key } = await server.newKey({ brandId })
    expect((await server.call('GET', at, { key })).json).toEqual(kept)
    expect((await server.call('POST', `${at}/preview`, { key, json: {} })).json.text).toBe('x')
    expect((await server.call('POST', '/v1/templates', { key, ...nameless })).json.brand_id).toBe(brandId)

    const { brandId: other } = await makeDomain(server.database.db, server.organizationId, 'other.example')
    const { key: restricted } = await server.newKey({ brandId: other })
    expect(await refusalOf('GET', at, { key: restricted })).toEqual([404, 'not_found', undefined])
    expect(await refusalOf('GET', `${at}?brand_id=${brandId}`, { key: restricted })).toEqual([
      403,
      'brand_restricted',
      'brand_id',
    ])
    const posted = { key: restricted, json: { slug: 'mine', brand_id: brandId } }
    expect(await refusalOf('POST', '/v1/templates', posted)).toEqual([403, 'brand_restricted', 'brand_id'])
    expect((await server.call('GET', '/v1/templates', { key: restricted })).json).toEqual({
      data: [],
      next_cursor: null,
    })
  })

  test('of another organization look like those that do not exist', async () => {
    const kept = await newTemplate()
    const { key } = await server.newKey({ organizationId: await server.newOrganization() })
    const absent = 'brd_00000000000000000000000000'
    for (const [method, path, what] of [
      ['GET', '', {}],
      ['PATCH', '', { json: { name: 'Mine' } }],
      ['DELETE', '', {}],
    ] as const) {
      const at = (brand: string) => `/v1/templates/${kept.slug}${path}?brand_id=${brand}`
      const foreign = await server.call(method, at(brandId), { key, ...what })
      expect([foreign.status, foreign.json.error.code]).toEqual([404, 'not_found'])
      expect(foreign.text.replace(brandId, absent)).toBe((await server.call(method, at(absent), { key, ...what })).text)
    }
    expect((await server.call('GET', '/v1/templates', { key })).json.data).toEqual([])
    for (const slug of ['nowhere', 'Nowhere', 'ünïcode', '%00', 'a'.repeat(300)])
      expect(await refusalOf('GET', `/v1/templates/${encodeURIComponent(slug)}?brand_id=${brandId}`)).toEqual([
        404,
        'not_found',
        undefined,
      ])
  })

  test('are listed newest first, page by page, and a page of large ones ends early', async () => {
    const { brandId: own } = await makeDomain(server.database.db, server.organizationId, 'listed.example')
    const { key } = await server.newKey({ brandId: own })
    const html = 'x'.repeat(500 * 1024)
    for (let i = 0; i < 20; i++) await newTemplate({ brand_id: own, html, text: i % 2 ? html : null })
    const seen: string[] = []
    const sizes: number[] = []
    for (let cursor = ''; ; ) {
      const { json } = await server.call('GET', `/v1/templates?limit=25${cursor}`, { key })
      seen.push(...json.data.map((template: { id: string }) => template.id))
      sizes.push(json.data.length)
      if (json.next_cursor === null) break
      cursor = `&cursor=${json.next_cursor}`
    }
    expect(new Set(seen).size).toBe(20)
    expect(seen).toEqual(seen.toSorted().reverse())
    expect(sizes.length).toBeGreaterThan(1)
    const filtered = await server.call('GET', `/v1/templates?brand_id=${own}&limit=2`)
    expect(filtered.json.data.map((template: { id: string }) => template.id)).toEqual(seen.slice(0, 2))
    for (const cursor of ['x', Buffer.from('["drf_x"]').toString('base64url')])
      expect(await refusalOf('GET', `/v1/templates?cursor=${cursor}`)).toEqual([400, 'invalid_cursor', 'cursor'])
  })

  test('need their scopes', async () => {
    const { key: reader } = await server.newKey({ scopes: ['templates:read'] })
    const { key: writer } = await server.newKey({ scopes: ['templates:write'] })
    for (const [method, path, key] of [
      ['GET', '', writer],
      ['GET', '/x', writer],
      ['POST', '/x/preview', writer],
      ['POST', '', reader],
      ['PATCH', '/x', reader],
      ['DELETE', '/x', reader],
    ] as const)
      expect((await refusalOf(method, `/v1/templates${path}`, { key }))[1]).toBe('insufficient_scope')
  })
})

describe('a preview', () => {
  async function preview(slug: string, variables?: object) {
    const json = { brand_id: brandId, ...(variables ? { variables } : {}) }
    return server.call('POST', `/v1/templates/${slug}/preview`, { json })
  }

  test('renders variables and defaults, escaped in HTML only', async () => {
    const { slug } = await newTemplate(welcome)
    expect((await preview(slug, { name: '<Ann>' })).json).toEqual({
      subject: 'Welcome, <Ann>',
      text: 'Hello <Ann>, from Acme & Co.',
      html: '<p>Hello &lt;Ann&gt;, from Acme &amp; Co.</p>',
      missing_variables: [],
    })
    expect((await preview(slug, { name: 'Ann', shop: 'Other' })).json.text).toBe('Hello Ann, from Other.')
  })

  test('names the required variables that are missing, and renders them as empty', async () => {
    const { slug } = await newTemplate({
      text: '[{{ a }}{{ b }}{{ c }}]',
      variables: [
        { name: 'a', required: true },
        { name: 'b', required: true, default: 'B' },
        { name: 'c', required: true },
      ],
    })
    expect((await preview(slug, { c: 0 })).json).toMatchObject({ text: '[B0]', missing_variables: ['a'] })
    expect((await preview(slug)).json.missing_variables).toEqual(['a', 'c'])
    expect((await preview(slug, { a: null, c: false })).json.missing_variables).toEqual(['a'])
  })

  test('keeps the subject on one line', async () => {
    const { slug } = await newTemplate({ subject: 'Hi {{ a }}' })
    const { json } = await preview(slug, { a: 'x\r\nBcc: evil@x.example\n\u2028\u0000y' })
    expect(json.subject).toBe('Hi x Bcc: evil@x.example y')
  })

  test('refuses what costs too much or renders to too much', async () => {
    const cases = [
      ['html', '{% for i in (1..100000000) %}x{% endfor %}'],
      ['text', `{% for i in (1..90000) %}${'x'.repeat(100)}{% endfor %}`],
      ['text', `{% for i in (1..1000) %}${'ä'.repeat(1100)}{% endfor %}`],
      ['subject', '{% for i in (1..1000) %}x{% endfor %}'],
      ['text', '{{ a | date: "%9999999d" }}'],
    ] as const
    for (const [part, source] of cases) {
      const { slug } = await newTemplate({ [part]: source })
      const { status, json } = await preview(slug, { a: 'now' })
      expect([status, json.error?.code, json.error?.param]).toEqual([422, 'template_invalid', part])
    }
    const { slug } = await newTemplate({ text: 'x' })
    const { status, json } = await preview(slug, { a: 'x'.repeat(65_536) })
    expect([status, json.error.param]).toEqual([400, 'variables'])
  })
})
