import { type JsonSchema, jsonSchema } from '../../api/json/schema.ts'
import type { Operation } from '../../api/operations.ts'
import type { TypeBoxSchema } from '../../api/validation.ts'
import type { ToolDefinition } from './tool-definitions.ts'

/** Where each argument goes in the request of the tool. */
export interface ArgumentLocations {
  /** The parameter of the path, by the argument's name. */
  readonly path: ReadonlyMap<string, string>
  readonly query: ReadonlySet<string>
  readonly hasBody: boolean
}

interface ToolInput {
  readonly schema: JsonSchema
  readonly locations: ArgumentLocations
}

const idempotencyKey: JsonSchema = {
  type: 'string',
  minLength: 8,
  maxLength: 255,
  description: 'A repeated call with the same key and the same arguments is processed once and gets the first result.',
}

/** The arguments of a tool: path parameters, query and body of its operation in one object. */
export function toolInput({ renamedParameters = {} }: ToolDefinition, operation: Operation): ToolInput {
  const path = new Map(
    [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [renamedParameters[name] ?? name, name] as const),
  )
  const query = propertiesOf(operation.query)
  const body = propertiesOf(operation.body)
  const properties: Record<string, JsonSchema> = {
    ...Object.fromEntries([...path.keys()].map(name => [name, { type: 'string', minLength: 1 }])),
    ...Object.fromEntries(Object.entries(query).map(([name, schema]) => [name, queryArgument(name, schema)])),
    ...Object.fromEntries(Object.entries(body).map(([name, schema]) => [name, jsonSchema(schema)])),
    ...(operation.method === 'GET' ? {} : { idempotency_key: idempotencyKey }),
  }
  return {
    schema: {
      type: 'object',
      properties,
      required: [...path.keys(), ...requiredOf(operation.query), ...requiredOf(operation.body)],
      additionalProperties: false,
    },
    locations: { path, query: new Set(Object.keys(query)), hasBody: operation.body !== undefined },
  }
}

/** A query parameter is a string; for a model `limit` is the number that it stands for. */
function queryArgument(name: string, schema: TypeBoxSchema): JsonSchema {
  return name === 'limit'
    ? { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'The maximum number of items.' }
    : jsonSchema(schema)
}

/** The result of a tool; with `untrusted` and `fence` where it contains text from outside. */
export function toolOutput({ returnsUntrustedText }: ToolDefinition, operation: Operation): JsonSchema {
  const [result] = Object.entries(operation.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => jsonSchema(schema))
  const { properties, required = [] } = result ?? attachmentSchema
  const fence = returnsUntrustedText ? fenceSchemas : {}
  return {
    type: 'object',
    properties: { ...properties, ...fence },
    required: [...required, ...Object.keys(fence)],
  }
}

const fenceSchemas: Readonly<Record<string, JsonSchema>> = {
  untrusted: {
    const: true,
    description: 'The result contains text from outside, between <untrusted> tags with the id `fence`.',
  },
  fence: { type: 'string' },
}

/** The result of an operation that responds with bytes. */
const attachmentSchema: JsonSchema = {
  type: 'object',
  properties: {
    size: { type: 'integer', description: 'Bytes.' },
    content_base64: { type: 'string' },
  },
  required: ['size', 'content_base64'],
}

function propertiesOf(schema: TypeBoxSchema | undefined): Readonly<Record<string, TypeBoxSchema>> {
  return schema?.properties ?? {}
}

function requiredOf(schema: TypeBoxSchema | undefined): readonly string[] {
  return Array.isArray(schema?.['required']) ? (schema['required'] as readonly string[]) : []
}
