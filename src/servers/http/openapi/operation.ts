import { type JsonSchema, jsonSchema } from '../../../api/json-schema.ts'
import type { OperationSpec } from '../../../api/operations.ts'
import type { TypeBoxSchema } from '../../../api/validation.ts'
import { type ComponentRegistry, mapSubschemas } from './components.ts'
import { headerRefs, refusalsByStatus, successHeaders } from './responses.ts'

/** An OpenAPI Operation Object. */
export interface OperationObject {
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
export interface OperationExample {
  readonly status: number
  readonly request?: unknown
  readonly response: unknown
}

/** @throws when the route does not say what it answers */
export function createOperationObject(
  operation: OperationSpec,
  tag: string,
  components: ComponentRegistry,
  example: OperationExample | undefined,
): OperationObject {
  const { requirements, description } = operation
  return {
    operationId: description.operationId,
    summary: description.summary,
    description: [description.description, ...needInWords(operation)].filter(each => each !== undefined).join('\n\n'),
    tags: [tag],
    security: requirements ? [{ apiKey: [] }] : [],
    ...(requirements && { 'x-scopes': requirements.scopes, 'x-organization-only': requirements.organizationOnly }),
    parameters: parametersOf(operation, components),
    ...bodyOf(operation, components, example),
    responses: { ...errors(operation, components), ...successes(operation, components, example) },
  }
}

function needInWords({ requirements, method }: OperationSpec): readonly (string | undefined)[] {
  if (!requirements) return ['Needs no key.']
  const scopes = requirements.scopes.map(scope => `\`${scope}\``).join(' and ')
  return [
    requirements.scopes.length === 0 ? 'Any valid key may do this.' : `Needs the scope ${scopes}.`,
    requirements.organizationOnly ? 'Closed to keys that are restricted to a brand.' : undefined,
    requirements.idempotencyRefused && method !== 'GET' ? 'Takes no `Idempotency-Key`.' : undefined,
  ]
}

function parametersOf(
  { method, requirements, params, query }: OperationSpec,
  components: ComponentRegistry,
): readonly object[] {
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
  const keyed = method !== 'GET' && requirements !== null && !requirements.idempotencyRefused
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
function described(shape: TypeBoxSchema, words: string | undefined, components: ComponentRegistry) {
  const { documented, description = words, ...schema } = jsonSchema(shape)
  return {
    ...(description === undefined ? {} : { description }),
    schema: components.nameSchema((documented as JsonSchema | undefined) ?? schema),
  }
}

function bodyOf({ method, body }: OperationSpec, components: ComponentRegistry, example: OperationExample | undefined) {
  if (!body) return {}
  const schema = closed(jsonSchema(body))
  return {
    requestBody: {
      required: method === 'PATCH' || (schema.required ?? []).length > 0,
      content: {
        'application/json': {
          schema: components.nameSchema(method === 'PATCH' ? { ...schema, minProperties: 1 } : schema),
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
  { method, path, requirements, description, responses }: OperationSpec,
  components: ComponentRegistry,
  example: OperationExample | undefined,
) {
  const names = successHeaders(
    requirements !== null,
    method !== 'GET' && requirements !== null && !requirements.idempotencyRefused,
  )
  const headers = headerRefs(names)
  if (description.responses)
    return Object.fromEntries(
      Object.entries(description.responses).map(([status, each]) => [
        status,
        { ...each, headers: { ...headers, ...each.headers } },
      ]),
    )
  if (!responses) throw new Error(`${method} ${path} does not say what it answers`)
  return Object.fromEntries(
    Object.entries(responses).map(([status, shape]) => {
      const schema = components.nameSchema(jsonSchema(shape))
      const content = { schema, ...(example?.status === Number(status) ? { example: example.response } : {}) }
      return [
        status,
        {
          description: `${description.summary}.`,
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

function errors(operation: OperationSpec, components: ComponentRegistry) {
  return Object.fromEntries(
    [...refusalsByStatus(operation)].map(([status, codes]) => [
      String(status),
      components.errorResponse(status, codes, operation.requirements !== null),
    ]),
  )
}
