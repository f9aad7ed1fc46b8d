import { type JsonSchema, jsonSchema } from '../../../api/json-schema.ts'
import type { SaidOperation } from '../../../api/operations.ts'
import type { Schema } from '../../../api/validation.ts'
import { type Components, mapSubschemas } from './components.ts'
import { headerRefs, refusalsOf, successHeaders } from './responses.ts'

/** An OpenAPI Operation Object. */
export interface DescribedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly object[]
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, object>>
  readonly 'x-scopes'?: readonly string[]
  /** Closed to keys that are restricted to a brand. */
  readonly 'x-organization-only'?: boolean
}

/** One answer of an operation, as somebody was really given it. */
export interface Example {
  readonly status: number
  readonly request?: unknown
  readonly response: unknown
}

/** @throws when the route does not say what it answers */
export function describeOperation(
  operation: SaidOperation,
  tag: string,
  components: Components,
  example: Example | undefined,
): DescribedOperation {
  const { need, said } = operation
  return {
    operationId: said.operationId,
    summary: said.summary,
    description: [said.description, ...needInWords(operation)].filter(each => each !== undefined).join('\n\n'),
    tags: [tag],
    security: need ? [{ apiKey: [] }] : [],
    ...(need && { 'x-scopes': need.scopes, 'x-organization-only': need.organizationOnly }),
    parameters: parametersOf(operation, components),
    ...bodyOf(operation, components, example),
    responses: { ...errors(operation, components), ...successes(operation, components, example) },
  }
}

function needInWords({ need, method }: SaidOperation): readonly (string | undefined)[] {
  if (!need) return ['Needs no key.']
  const scopes = need.scopes.map(each => `\`${each}\``).join(' and ')
  return [
    need.scopes.length === 0 ? 'Any valid key may do this.' : `Needs the scope ${scopes}.`,
    need.organizationOnly ? 'Closed to keys that are restricted to a brand.' : undefined,
    need.idempotencyRefused && method !== 'GET' ? 'Takes no `Idempotency-Key`.' : undefined,
  ]
}

function parametersOf({ method, need, params, query }: SaidOperation, components: Components): readonly object[] {
  const inPath = Object.entries(params?.properties ?? {}).map(([name, each]) => ({
    name,
    in: 'path',
    required: true,
    ...described(each, pathWords[name] ?? `The \`${name}\` of the path.`, components),
  }))
  const required = (query?.['required'] ?? []) as readonly string[]
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, each]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...described(each, queryWords[name], components),
  }))
  const keyed = method !== 'GET' && need !== null && !need.idempotencyRefused
  return [...inPath, ...inQuery, ...(keyed ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [])]
}

const pathWords: Readonly<Record<string, string>> = {
  id: 'Its identifier.',
  attachmentId: 'The `id` of an attachment of the message.',
  record_id: 'The `id` of the DNS record.',
  slug: 'The `slug` of the template.',
  email: 'The address of the recipient, percent-encoded.',
}

const queryWords: Readonly<Record<string, string>> = {
  brand_id: 'Of this brand. A key that is restricted to a brand implies it.',
  cursor: 'The page after: the `next_cursor` of the page before.',
}

/** The schema of a parameter, and what it is: its own words stand beside the schema. */
function described(shape: Schema, words: string | undefined, components: Components) {
  const { documented, description = words, ...schema } = jsonSchema(shape)
  return {
    ...(description === undefined ? {} : { description }),
    schema: components.name((documented as JsonSchema | undefined) ?? schema),
  }
}

function bodyOf({ method, body }: SaidOperation, components: Components, example: Example | undefined) {
  if (!body) return {}
  const schema = closed(jsonSchema(body))
  return {
    requestBody: {
      required: method === 'PATCH' || (schema.required ?? []).length > 0,
      content: {
        'application/json': {
          schema: components.name(method === 'PATCH' ? { ...schema, minProperties: 1 } : schema),
          ...(example?.request === undefined ? {} : { example: example.request }),
        },
      },
    },
  }
}

/** A body takes no property that it does not name, at any depth. */
function closed(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, closed)
  return inner.properties ? { additionalProperties: false, ...inner } : inner
}

function successes(
  { method, path, need, said, responses }: SaidOperation,
  components: Components,
  example: Example | undefined,
) {
  const names = successHeaders(need !== null, method !== 'GET' && need !== null && !need.idempotencyRefused)
  const headers = headerRefs(names)
  if (said.responses)
    return Object.fromEntries(
      Object.entries(said.responses).map(([status, each]) => [
        status,
        { ...each, headers: { ...headers, ...each.headers } },
      ]),
    )
  if (!responses) throw new Error(`${method} ${path} does not say what it answers`)
  return Object.fromEntries(
    Object.entries(responses).map(([status, shape]) => {
      const schema = components.name(jsonSchema(shape))
      const content = { schema, ...(example?.status === Number(status) ? { example: example.response } : {}) }
      return [
        status,
        {
          description: `${said.summary}.`,
          headers,
          ...(schema.type === 'void' ? {} : { content: { 'application/json': beside(status, content) } }),
        },
      ]
    }),
  )
}

/** Where an operation has an error of its own shape, the errors of every operation may come as well. */
function beside(status: string, { schema, ...content }: { readonly schema: JsonSchema }) {
  const isError = Number(status) >= 400
  return { schema: isError ? { anyOf: [schema, { $ref: '#/components/schemas/Error' }] } : schema, ...content }
}

function errors(operation: SaidOperation, components: Components) {
  return Object.fromEntries(
    [...refusalsOf(operation)].map(([status, codes]) => [
      String(status),
      components.refuse(status, codes, operation.need !== null),
    ]),
  )
}
