import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/base/ids.ts'
import type { SendDeps } from '../../../src/sending/accept/open-sending.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { templateRoutes } from '../../../src/sending/templates/routes.ts'
import { type CallOptions, openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { makeDomain, sendingOn } from '../fixtures.ts'

let server: TestHttpServer
let sending: SendDeps
let brandId: Id<'brd'>
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => {
      sending = sendingOn(db, clock)
      return [emailRoutes(sending), templateRoutes({ db, clock, renderer: sending.renderer })]
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

const welcome = {
  subject: 'Welcome, {{ name }}',
  text: 'Hello {{ name }}, from {{ shop }}.',
  html: '<p>Hello {{ name }}, from {{ shop }}.</p>',
  variables: [
    { name: 'name', required: true },
    { name: 'shop', default: 'Acme & Co' },
  ],
}

describe('a send with a template', () => {
  const plain = { from: 'ann@acme.example', to: 'bob@b.example' }
  const send = (fields: object, call: CallOptions = {}) =>
    server.call('POST', '/v1/emails', { ...call, json: { ...plain, ...fields } })
  const contentOf = async (id: string) => (await server.call('GET', `/v1/emails/${id}/content`)).json

  test('takes subject, text and html from it, and names it in the email', async () => {
    const { slug } = await newTemplate(welcome)
    const { key } = await server.newKey({ scopes: ['email:send'], brandId })
    const sent = await send({ template: slug, variables: { name: 'Ann & Bob' } }, { key })
    expect(sent.status).toBe(202)
    expect(await contentOf(sent.json.id)).toMatchObject({
      subject: 'Welcome, Ann & Bob',
      text: 'Hello Ann & Bob, from Acme & Co.',
      html: '<p>Hello Ann &amp; Bob, from Acme &amp; Co.</p>',
    })
    expect((await server.call('GET', `/v1/emails/${sent.json.id}`)).json.template).toBe(slug)
    expect((await server.call('GET', '/v1/emails?limit=1')).json.data[0].template).toBe(slug)
  })

  test('lets fields of the request take precedence', async () => {
    const { slug } = await newTemplate(welcome)
    const sent = await send({ template: slug, variables: { name: 'Ann' }, subject: 'Mine {{ name }}', text: 'My text' })
    expect(await contentOf(sent.json.id)).toMatchObject({
      subject: 'Mine {{ name }}',
      text: 'My text',
      html: '<p>Hello Ann, from Acme &amp; Co.</p>',
    })
  })

  test('never lets a variable add a header', async () => {
    const { slug } = await newTemplate({ subject: 'Hi {{ a }}', text: 'x' })
    const sent = await send({ template: slug, variables: { a: 'x\r\nBcc: evil@x.example\r\n\r\nbody' } })
    const { subject, headers, text } = await contentOf(sent.json.id)
    expect([subject, text.trim()]).toEqual(['Hi x Bcc: evil@x.example body', 'x'])
    expect(headers.map((header: { name: string }) => header.name.toLowerCase())).not.toContain('bcc')
  })

  test('is refused without the template, its variables, or content', async () => {
    const { slug } = await newTemplate(welcome)
    const { slug: empty } = await newTemplate()
    const { slug: endless } = await newTemplate({ subject: 's', text: '{% for i in (1..99999999) %}x{% endfor %}' })
    const { brandId: other } = await makeDomain(server.database.db, server.organizationId, 'elsewhere.example')
    const { slug: foreign } = await newTemplate({ ...welcome, brand_id: other })
    const cases: readonly (readonly [object, number, string, string])[] = [
      [{ template: 'nowhere' }, 422, 'template_not_found', 'template'],
      [{ template: 'Nöwhere' }, 422, 'template_not_found', 'template'],
      [{ template: foreign, variables: { name: 'x' } }, 422, 'template_not_found', 'template'],
      [{ template: slug }, 422, 'template_variable_missing', 'variables.name'],
      [{ template: slug, variables: { name: null } }, 422, 'template_variable_missing', 'variables.name'],
      [{ template: empty, text: 'x' }, 422, 'no_content', 'subject'],
      [{ template: empty, subject: 'x' }, 422, 'no_content', 'text'],
      [{ template: endless }, 422, 'template_invalid', 'template'],
      [{ template: 1 }, 400, 'invalid_request', 'template'],
      [{ template: slug, variables: [] }, 400, 'invalid_request', 'variables'],
      [{ template: slug, variables: { name: 'x'.repeat(65_536) } }, 400, 'invalid_request', 'variables'],
      [{ subject: 's', text: 't', variables: { name: 'x' } }, 400, 'invalid_request', 'variables'],
    ]
    for (const [fields, ...refusal] of cases) {
      const { status, json } = await send(fields)
      expect([fields, status, json.error?.code, json.error?.param]).toEqual([fields, ...refusal])
    }
  })
})
