import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020'
import type { JsonSchema } from '../../../../src/api/json/schema.ts'
import { isCursorParam } from '../../../../src/api/page.ts'
import { type MatrixFixture, type Outcome, openMatrixFixture } from './fixtures.ts'
import { type MatrixOperation, operations, requestFor } from './operations.ts'
import { unknownIds } from './resources.ts'

/** Every operation with a request that has one error. */
let fixture: MatrixFixture

beforeAll(async () => {
  fixture = await openMatrixFixture()
}, 60_000)
afterAll(() => fixture?.close(), 60_000)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const outcome = ({ status, code, param }: Outcome) => ({ status, code, param })
const refusal = (status: number, code: string, param?: string) => ({ status, code, param })
const invalid = (param?: string) => refusal(400, 'invalid_request', param)

/** A value that the property does not accept; undefined: it accepts all. */
function wrongValue(schema: JsonSchema): unknown {
  return ['7', 7, { a: 1 }].find(value => !ajv.validate(schema, value))
}

/** The maximum length of the property; undefined: it has none. */
function maxLength(schema: JsonSchema): number | undefined {
  const branches = [schema, ...((schema['anyOf'] ?? []) as readonly JsonSchema[])]
  return branches.map(branch => branch['maxLength']).find(length => typeof length === 'number')
}

const propertiesOf = ({ body }: MatrixOperation) => Object.entries(body?.properties ?? {})

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  const request = () => requestFor(operation, fixture.own)
  /** The valid request with more behind its query, as it is written. */
  const withRawQuery = (more: string) => {
    const { path, query, body, method } = request()
    return { method, body, query: {}, path: `${path}?${more}&${new URLSearchParams(query)}`.replace(/&$/, '') }
  }
  const askWith = async (change: Readonly<Record<string, unknown>>) =>
    outcome(await fixture.send({ ...request(), body: { ...request().body, ...change } }))

  test('refuses an unknown query parameter', async () => {
    const response = await fixture.send({ ...request(), query: { ...request().query, nonsense: '1' } })
    expect(outcome(response)).toEqual(invalid('nonsense'))
  })

  test('refuses a query parameter that is given twice, and names it', async () => {
    for (const name of operation.queryNames.length > 0 ? operation.queryNames : ['nonsense'])
      expect(outcome(await fixture.send(withRawQuery(`${name}=1&${name}=1`)))).toEqual(invalid(name))
  })

  test('refuses a query parameter without a name, and says so', async () => {
    const response = await fixture.send(withRawQuery('=1'))
    expect(outcome(response)).toEqual(invalid())
    expect(JSON.parse(response.text).error.message).toBe('An empty name is not a parameter of this operation.')
  })

  test('does not know its path with a final slash', async () => {
    const response = await fixture.send({ ...request(), path: `${request().path}/` })
    expect(outcome(response)).toEqual(refusal(404, 'not_found'))
    expect(response.headers.get('allow')).toBeNull()
  })

  for (const name of Object.keys(operation.row.path ?? {}))
    test(`knows nothing by a {${name}} that is not UTF-8`, async () => {
      const { path, ...rest } = requestFor(operation, fixture.own, { [name]: 'undecodable' })
      const response = await fixture.send({ ...rest, path: path.replace('undecodable', '%ff') })
      expect(outcome(response)).toEqual(refusal(404, 'not_found'))
    })

  for (const name of operation.queryNames.filter(isCursorParam))
    test(`refuses any other ${name} as a cursor`, async () => {
      const other = { cursor_at: { cursor_id: unknownIds.message }, cursor_id: { cursor_at: '2026-01-31T08:15:00Z' } }[
        name
      ]
      for (const value of ['', 'x', '2026-13-01T00:00:00Z', 'x'.repeat(500), '\u0000', 'W10', unknownIds.brand])
        expect(
          outcome(await fixture.send({ ...request(), query: { ...request().query, ...other, [name]: value } })),
        ).toEqual(refusal(400, 'invalid_cursor', name))
    })

  if (operation.queryNames.includes('limit'))
    test('takes a limit of any number of digits', async () => {
      for (const limit of ['007', '201', '9'.repeat(20), '1'.repeat(400)])
        expect((await fixture.send({ ...request(), query: { ...request().query, limit } })).status).toBe(
          operation.row.status,
        )
    })

  if (operation.queryNames.includes('limit'))
    test('refuses an invalid limit', async () => {
      for (const limit of ['0', '-1', 'x', '1.5', ''])
        expect(outcome(await fixture.send({ ...request(), query: { ...request().query, limit } }))).toEqual(
          invalid('limit'),
        )
    })

  if (operation.method === 'GET') return

  test('refuses an unknown property', async () => {
    expect(await askWith({ nonsense: 1 })).toEqual(invalid('nonsense'))
  })

  test('refuses a body that is not JSON, or not an object', async () => {
    for (const raw of ['{', '{"a":}', '\u0000', '{} {}'])
      expect(outcome(await fixture.send(request(), { raw }))).toEqual(refusal(400, 'invalid_json'))
    for (const raw of ['[]', '"x"', '7', 'true', 'null'])
      expect(outcome(await fixture.send(request(), { raw }))).toEqual(invalid())
  })

  test('refuses a body of another media type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'])
      expect(outcome(await fixture.send(request(), { raw: 'a=b', headers: { 'content-type': type } }))).toEqual(
        refusal(415, 'unsupported_media_type'),
      )
  })

  test('refuses a body past 16 MiB before it arrives', async () => {
    const headers = { 'content-type': 'application/json' }
    expect(await fixture.declareBody(request(), 16 * 1024 * 1024 + 1, { headers })).toEqual(
      refusal(413, 'payload_too_large'),
    )
  })

  const [required] = operation.body?.required ?? []
  if (required !== undefined)
    test('refuses an empty body, and names the first required property', async () => {
      expect(outcome(await fixture.send({ ...request(), body: undefined }))).toEqual(invalid(required))
      expect(outcome(await fixture.send({ ...request(), body: {} }))).toEqual(invalid(required))
    })
  if (operation.method === 'PATCH')
    test('refuses a change without properties', async () => {
      expect(outcome(await fixture.send({ ...request(), body: {} }))).toEqual(invalid())
    })

  for (const [name, schema] of propertiesOf(operation)) {
    const wrong = wrongValue(schema)
    if (wrong !== undefined)
      test(`refuses ${JSON.stringify(wrong)} as ${name}`, async () => {
        expect(await askWith({ [name]: wrong })).toEqual(invalid(name))
      })
    const longest = maxLength(schema)
    if (longest !== undefined)
      test(`refuses ${name} of more than ${longest} characters`, async () => {
        expect(await askWith({ [name]: 'x'.repeat(longest + 1) })).toEqual(invalid(name))
      })
  }
})
