import { type JsonSchema, jsonSchema } from '../../api/json-schema.ts'
import type { Operation } from '../../api/operations.ts'
import type { TypeBoxSchema } from '../../api/validation.ts'
import type { ToolDefinition } from './tool-definitions.ts'

/** Where an argument goes in the request that the tool makes. */
export interface ArgumentLocations {
  /** Of the path, by the argument's name. */
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
  description: 'The same key with the same arguments does the work once: a repetition gets the first answer.',
}

/** The arguments of a tool: path, query and body of its operation in one object. */
export function toolInput({ renamedParameters = {} }: ToolDefinition, operation: Operation): ToolInput {
  const path = new Map(
    [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [renamedParameters[name] ?? name, name] as const),
  )
  const query = propertiesOf(operation.query)
  const body = propertiesOf(operation.body)
  const properties: Record<string, JsonSchema> = {
    ...Object.fromEntries([...path.keys()].map(name => [name, { type: 'string', minLength: 1 }])),
    ...Object.fromEntries(Object.entries(query).map(([name, each]) => [name, queryArgument(name, each)])),
    ...Object.fromEntries(Object.entries(body).map(([name, each]) => [name, jsonSchema(each)])),
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

/** A query is text; a model is shown what the text stands for. */
function queryArgument(name: string, schema: TypeBoxSchema): JsonSchema {
  return name === 'limit'
    ? { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'How many, at most.' }
    : jsonSchema(schema)
}

/** What a tool answers with; `untrusted` and `fence` where it holds text from outside. */
export function toolOutput({ returnsUntrustedText }: ToolDefinition, operation: Operation): JsonSchema {
  const [answer] = Object.entries(operation.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => jsonSchema(schema))
  const { properties, required = [] } = answer ?? attachmentOutput
  const marks = returnsUntrustedText ? fenceMarks : {}
  return {
    type: 'object',
    properties: { ...properties, ...marks },
    required: [...required, ...Object.keys(marks)],
  }
}

const fenceMarks: Readonly<Record<string, JsonSchema>> = {
  untrusted: { const: true, description: 'The answer holds text from outside, between marks with the id `fence`.' },
  fence: { type: 'string' },
}

/** An operation that answers with bytes. */
const attachmentOutput: JsonSchema = {
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
