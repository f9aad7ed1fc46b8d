import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Operation } from '../../src/api/operations.ts'
import type { TypeBoxSchema } from '../../src/api/validation.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { apiOperations } from '../harness/openapi-document.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'

let mailroom: Mailroom
const operations = apiOperations().filter(apiOperation => apiOperation.path !== '/v1/mcp')

beforeAll(async () => {
  mailroom = await startMailroom()
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

/** Wrong values for any place in a body, as JSON. */
const wrongs = [
  '{"a":1}',
  '{}',
  '[]',
  '["a"]',
  '[[["a"]]]',
  '[{"a":1}]',
  '0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  'true',
  'false',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"toString":"a"}',
  '{"$ne":null}',
] as const

const hole = 'HOLE'

/** Valid JSON with one hole, for each place in the schema. */
function holesIn(schema: TypeBoxSchema): readonly string[] {
  const { properties = {}, items, anyOf = [] } = schema
  const within = Object.entries(properties).flatMap(([name, property]) =>
    holesIn(property).map(inner => objectFor(schema, name, inner)),
  )
  const isClosed = isObject(schema) && !schema['patternProperties']
  const others = isClosed ? ['__proto__', 'bogus'].map(name => objectFor(schema, name, hole)) : []
  const values = schema['patternProperties'] ? [`{"k":${hole}}`] : []
  const elements = items ? holesIn(items).map(inner => `[${inner}]`) : []
  return [...new Set([hole, ...within, ...others, ...values, ...elements, ...anyOf.flatMap(holesIn)])]
}

function isObject({ type, properties }: TypeBoxSchema): boolean {
  return type === 'object' || properties !== undefined
}

/** An object with all required properties, and `inner` as its property `name`. */
function objectFor({ properties = {}, ...schema }: TypeBoxSchema, name: string, inner: string): string {
  const required = ((schema['required'] ?? []) as readonly string[]).filter(value => value !== name)
  const members = required.map(value => `${JSON.stringify(value)}:${rightFor(properties[value])}`)
  return `{${[...members, `${JSON.stringify(name)}:${inner}`].join(',')}}`
}

/** JSON that is valid for the schema. */
function rightFor(schema: TypeBoxSchema | undefined): string {
  const [first] = schema?.anyOf ?? []
  if (first) return rightFor(first)
  if (schema?.const !== undefined) return JSON.stringify(schema.const)
  switch (schema?.type) {
    case 'array':
      return `[${rightFor(schema.items)}]`
    case 'object':
      return '{}'
    case 'boolean':
      return 'true'
    case 'integer':
    case 'number':
      return '1'
    default:
      return '"a"'
  }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: string
}

async function ask({ method, path, body }: Asked) {
  const headers = { authorization: `Bearer ${mailroom.key}`, 'content-type': 'application/json' }
  const response = await fetchValidated(mailroom.http + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

/** Sends all requests, sixteen at a time; those with an unexpected response. */
async function askAll(all: readonly Asked[], isFit: (status: number, asked: Asked, text: string) => boolean) {
  const rest = all.values()
  const bad: string[] = []
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const asked of rest) {
        const { status, text } = await ask(asked)
        if (!isFit(status, asked, text)) bad.push(`${asked.method} ${asked.path} ${asked.body}: ${status} ${text}`)
      }
    }),
  )
  return bad
}

const at = ({ path }: Operation, id: string) => path.replaceAll(/:\w+/g, () => id)
const faults = () => mailroom.log.filter(logLine => logLine.level >= 50)

test('any value in any place of a body is refused or accepted, and never causes an internal error', async () => {
  const all = operations
    .filter(operation => operation.method !== 'GET')
    .flatMap(operation =>
      holesIn(operation.body ?? { type: 'object', properties: {} }).flatMap(json =>
        wrongs.map(wrong => ({
          method: operation.method,
          path: at(operation, 'some'),
          body: json.replace(hole, () => wrong),
        })),
      ),
    )
  expect(all.length).toBeGreaterThan(2000)
  // A batch answers with what each of its emails was refused for.
  const isRefused = (status: number, text: string) =>
    status === 400 || status === 403 || (status === 200 && text.startsWith('{"data":[{"index":0,"status":"refused"'))
  const bad = await askAll(all, (status, { body }, text) =>
    /1e999|"__proto__"|"bogus"/.test(body ?? '') ? isRefused(status, text) : status < 500,
  )
  expect(bad).toEqual([])
  expect(faults()).toEqual([])
}, 180_000)

test('a value that is no string is refused where a string belongs, with the name of the property', async () => {
  for (const operation of operations)
    for (const [name, schema] of Object.entries(operation.body?.properties ?? {})) {
      if (schema.type !== 'string') continue
      for (const wrong of ['{"a":1}', '["a"]', '1', 'true']) {
        const body = objectFor(operation.body ?? {}, name, wrong)
        const { status, text } = await ask({ method: operation.method, path: at(operation, 'some'), body })
        const { code, param } = JSON.parse(text).error
        const what = `${operation.description.operationId} ${body}`
        expect([what, status, code, param]).toEqual([what, 400, 'invalid_request', name])
      }
    }
}, 60_000)

const oddIds = [
  '%00',
  '%ff',
  '%f0%9f%98%80',
  '..%2f..%2fetc',
  "'%20OR%201=1--",
  '%7B%22a%22%3A1%7D',
  'x'.repeat(5000),
  '__proto__',
  'constructor',
]
const oddQueries = [
  'limit[a]=1',
  '__proto__[a]=1',
  '__proto__=1',
  'toString=1',
  'limit=1e999',
  'limit=%00',
  'limit=',
  'before=%00',
  'cursor=%ff',
  'cursor=e30',
  'q=%00',
  'q=%22',
  'status=%00',
  'brand_id[]=x',
  'brand_id=%00',
]

test('odd paths and queries find nothing, and never cause an internal error', async () => {
  const paths = operations
    .filter(operation => operation.path.includes(':'))
    .flatMap(operation =>
      oddIds.map(id => ({
        method: operation.method,
        path: at(operation, id),
        ...(operation.method === 'GET' ? {} : { body: operation.body ? rightBody(operation.body) : '{}' }),
      })),
    )
  const queries = operations
    .filter(operation => operation.method === 'GET')
    .flatMap(operation => oddQueries.map(query => ({ method: 'GET', path: `${at(operation, 'some')}?${query}` })))
  expect(await askAll([...paths, ...queries], status => status >= 400 && status < 500)).toEqual([])
  expect(faults()).toEqual([])
}, 120_000)

/** A body with all required properties, or one property where none is required. */
function rightBody(schema: TypeBoxSchema): string {
  const [first] = Object.entries(schema.properties ?? {})
  const [required = first?.[0]] = (schema['required'] ?? []) as readonly string[]
  return required === undefined ? '{}' : objectFor(schema, required, rightFor(schema.properties?.[required]))
}
