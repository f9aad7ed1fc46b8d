import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { Elysia, t } from 'elysia'
import { describeRoute } from '../../../../src/api/describe.ts'
import { api } from '../../../../src/api/route.ts'
import { version } from '../../../../src/base/version.ts'
import { createOpenApiDocument } from '../../../../src/servers/http/openapi/document.ts'
import type { OperationObject } from '../../../../src/servers/http/openapi/operation.ts'
import { openTestHttpServer, type TestHttpServer } from '../../../harness/http-server.ts'
import { openApiDocument } from '../../../harness/openapi-document.ts'

const document = openApiDocument()
const operations: readonly (readonly [string, OperationObject])[] = Object.entries(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
)

describe('the OpenAPI document', () => {
  test('passes the recommended rules of Redocly', async () => {
    // Mailroom has no licence that the description could name.
    const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off' } })
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
  })

  test('passes the recommended rules of Spectral', async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas] } as unknown as Parameters<typeof linter.setRuleset>[0])
    const problems = await linter.run(JSON.stringify(document))
    expect(problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`)).toEqual([])
  })

  test('has a unique id and a described tag for every operation', () => {
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
    for (const { name, description } of document.tags) expect([name, description]).not.toContain('')
  })

  test('describes every parameter', () => {
    const silent = operations.flatMap(([name, { parameters }]) =>
      parameters
        .filter(parameter => !('$ref' in parameter) && !('description' in parameter))
        .map(parameter => `${name} ${(parameter as { name: string }).name}`),
    )
    expect(silent).toEqual([])
  })

  test('has only the statuses of the specification, and 402 only for sending', () => {
    const statuses = new Set(operations.flatMap(([, { responses }]) => Object.keys(responses)))
    const specified = [200, 201, 202, 400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500]
    expect(
      [...statuses].map(Number).filter(status => !specified.includes(status) && ![303, 304, 503].includes(status)),
    ).toEqual([])
    expect(operations.filter(([, each]) => '402' in each.responses).map(([name]) => name)).toEqual(['POST /v1/emails'])
  })
})

test('requires a description and a response schema of every route', () => {
  const silent = api('a').get('/v1/brands', () => ({}), { scope: [], response: t.Object({}) })
  expect(() => createOpenApiDocument(new Elysia().use(silent), {})).toThrow(
    'GET /v1/brands has no detail with an operationId',
  )
  const shapeless = api('b').get('/v1/brands', () => ({}), {
    scope: [],
    detail: describeRoute('listBrands', 'List brands'),
  })
  expect(() => createOpenApiDocument(new Elysia().use(shapeless), {})).toThrow('GET /v1/brands has no response schema')
})

test('refuses two different schemas with one title', () => {
  const routes = api('c')
    .get('/v1/brands', () => ({ a: '' }), {
      scope: [],
      detail: describeRoute('listBrands', 'List brands'),
      response: t.Object({ a: t.String() }, { title: 'Brand' }),
    })
    .get('/v1/brands/:id', () => ({ b: '' }), {
      scope: [],
      detail: describeRoute('getBrand', 'Read a brand'),
      response: t.Object({ b: t.String() }, { title: 'Brand' }),
    })
  expect(() => createOpenApiDocument(new Elysia().use(routes), {})).toThrow(
    'two different schemas have the title Brand',
  )
})

describe('the server', () => {
  let server: TestHttpServer
  beforeAll(async () => {
    server = await openTestHttpServer()
  })
  afterAll(() => server.close())

  const get = (path: string, headers: Record<string, string> = {}) => server.call('GET', path, { key: null, headers })

  test('serves the document without a key, and 304 to a client that has it', async () => {
    const first = await get('/openapi.json')
    expect([first.status, first.json.openapi]).toEqual([200, '3.1.0'])
    expect(first.json.info).toMatchObject({ version: '1.0.0', 'x-mailroom-version': version })
    expect(first.json.paths['/v1/brands'].post.operationId).toBe('createBrand')
    const etag = first.headers.get('etag') ?? ''
    const again = await get('/openapi.json', { 'if-none-match': `W/"x", ${etag}` })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    expect((await get('/openapi.json', { 'if-none-match': '"x"' })).status).toBe(200)
    const head = await server.call('HEAD', '/openapi.json', { key: null })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag])
  })

  test('serves the documentation page and its files, with a policy that allows nothing else', async () => {
    const page = await get('/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html;charset=utf-8')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(page.text).not.toMatch(/<script>|<style|style=|https?:/)
    const loads = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(loads).toHaveLength(4)
    for (const path of loads) {
      const file = await get(path)
      expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(file.text.length).toBeGreaterThan(50)
    }
  })

  test('serves no other file', async () => {
    for (const name of ['package.json', 'index.html', '..%2fpackage.json', '__proto__', 'swagger-ui.css.map'])
      expect([name, (await get(`/docs/${name}`)).status]).toEqual([name, 404])
  })
})
