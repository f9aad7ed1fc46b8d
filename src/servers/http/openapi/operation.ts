import { type JsonSchema, jsonSchema } from '../../../api/json/schema.ts'
import type { OperationSpec } from '../../../api/operations.ts'
import type { TypeBoxSchema } from '../../../api/validation.ts'
import { type ComponentRegistry, mapSubschemas } from './components.ts'
import { type Audience, headerRefs, refusalsByStatus, successHeaders } from './responses.ts'

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
  /** Not available to keys that are restricted to a brand. */
  readonly 'x-organization-only'?: boolean
}

/** A response of an operation that was recorded in a test run. */
export interface OperationExample {
  readonly status: number
  readonly request?: unknown
  readonly response: unknown
}

/** @throws when the route has no response schema */
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
    description: [description.description, ...describeRequirements(operation)]
      .filter(text => text !== undefined)
      .join('\n\n'),
    tags: [tag],
    security: requirements ? [{ apiKey: [] }] : [],
    ...(requirements && { 'x-scopes': requirements.scopes, 'x-organization-only': requirements.organizationOnly }),
    parameters: parametersOf(operation, components),
    ...bodyOf(operation, components, example),
    responses: { ...errorResponsesOf(operation, components), ...responsesOf(operation, components, example) },
  }
}

function describeRequirements({ requirements, method }: OperationSpec): readonly (string | undefined)[] {
  if (!requirements) return ['Needs no API key.']
  const scopes = requirements.scopes.map(scope => `\`${scope}\``).join(' and ')
  return [
    requirements.scopes.length === 0 ? 'Any valid API key may use it.' : `Needs the scope ${scopes}.`,
    requirements.organizationOnly ? 'Not available to API keys that are restricted to a brand.' : undefined,
    requirements.idempotencyRefused && method !== 'GET' ? 'Does not accept an `Idempotency-Key`.' : undefined,
  ]
}

function parametersOf(
  { method, requirements, params, query }: OperationSpec,
  components: ComponentRegistry,
): readonly object[] {
  const inPath = Object.entries(params?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    ...describeParameter(schema, pathDescriptions[name] ?? `The \`${name}\` of the path.`, components),
  }))
  const required = (query?.['required'] ?? []) as readonly string[]
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...describeParameter(schema, queryDescriptions[name], components),
  }))
  const acceptsKey = method !== 'GET' && requirements !== null && !requirements.idempotencyRefused
  return [...inPath, ...inQuery, ...(acceptsKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [])]
}

const pathDescriptions: Readonly<Record<string, string>> = {
  id: 'The identifier.',
  attachmentId: 'The `id` of an attachment of the message.',
  attachment_id: 'The `id` of an attachment, as the content of the email has it.',
  record_id: 'The `id` of the DNS record.',
  slug: 'The `slug` of the template.',
  email: 'The address of the recipient, percent-encoded.',
}

const queryDescriptions: Readonly<Record<string, string>> = {
  brand_id: 'The brand. An API key that is restricted to a brand implies it.',
  cursor: 'The `next_cursor` of the previous page.',
}

/** The schema of a parameter, with its description beside it; a description in the schema wins over `fallback`. */
function describeParameter(typeBox: TypeBoxSchema, fallback: string | undefined, components: ComponentRegistry) {
  const { description = fallback, ...schema } = jsonSchema(typeBox)
  return {
    ...(description === undefined ? {} : { description }),
    schema: components.nameSchema(schema),
  }
}

function bodyOf({ method, body }: OperationSpec, components: ComponentRegistry, example: OperationExample | undefined) {
  if (!body) return {}
  const schema = withoutUnknownProperties(jsonSchema(body))
  return {
    requestBody: {
      // Where it has one of several forms, each of them requires something.
      required: method === 'PATCH' || (schema.required ?? []).length > 0 || schema['anyOf'] !== undefined,
      content: {
        'application/json': {
          schema: components.nameSchema(method === 'PATCH' ? { ...schema, minProperties: 1 } : schema),
          ...(example?.request === undefined ? {} : { example: example.request }),
        },
      },
    },
  }
}

/** The schema without additional properties, at any depth: requests with unknown properties are refused. */
function withoutUnknownProperties(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, withoutUnknownProperties)
  return inner.properties ? { additionalProperties: false, ...inner } : inner
}

function responsesOf(
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
      Object.entries(description.responses).map(([status, response]) => [
        status,
        { ...response, headers: { ...headers, ...response.headers } },
      ]),
    )
  if (!responses) throw new Error(`${method} ${path} has no response schema`)
  const success = Object.fromEntries(
    Object.entries(responses).map(([status, typeBox]) => {
      const schema = components.nameSchema(jsonSchema(typeBox))
      const content = { schema, ...(example?.status === Number(status) ? { example: example.response } : {}) }
      return [
        status,
        {
          description: `${description.summary}.`,
          headers,
          ...(schema.type === 'void' ? {} : { content: { 'application/json': orCommonError(status, content) } }),
        },
      ]
    }),
  )
  return description['x-html'] ? { ...success, '303': toDashboard(headers) } : success
}

/** What a browser gets in place of JSON. */
function toDashboard(headers: ReturnType<typeof headerRefs>) {
  const location = { description: 'The page of the dashboard.', schema: { type: 'string' } }
  return { description: 'A browser is led to the dashboard.', headers: { ...headers, Location: location } }
}

/** A status with an error schema of the operation's own may also carry the common error. */
function orCommonError(status: string, { schema, ...content }: { readonly schema: JsonSchema }) {
  const isError = Number(status) >= 400
  return { schema: isError ? { anyOf: [schema, { $ref: '#/components/schemas/Error' }] } : schema, ...content }
}

function audienceOf({ requirements, description }: OperationSpec): Audience {
  if (requirements !== null) return 'keys'
  return description['x-html'] ? 'browsers' : 'everyone'
}

function errorResponsesOf(operation: OperationSpec, components: ComponentRegistry) {
  return Object.fromEntries(
    [...refusalsByStatus(operation)].map(([status, codes]) => [
      String(status),
      components.errorResponse(status, codes, audienceOf(operation)),
    ]),
  )
}
