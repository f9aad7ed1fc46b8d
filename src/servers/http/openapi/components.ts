import type { ResponseDescription } from '../../../api/describe.ts'
import type { JsonSchema } from '../../../api/json/schema.ts'
import type { RefusalCode } from '../../../base/refusal.ts'
import { type Audience, errorResponse, errorResponseName } from './responses.ts'

/** The schemas and responses that the document defines once, by name. */
export interface ComponentRegistry {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** The schema, each subschema with a `title` registered as a component and replaced by a reference. */
  nameSchema(schema: JsonSchema): JsonSchema
  readonly responses: Readonly<Record<string, ResponseDescription>>
  /** A reference to this error response, which is registered as a component. */
  errorResponse(status: number, codes: readonly RefusalCode[], audience: Audience): JsonSchema
}

/** In front of the names of the error responses that each audience gets. */
const prefixes = { keys: '', everyone: 'Public', browsers: 'Page' } as const satisfies Record<Audience, string>

/** Its `nameSchema` throws when two different schemas have the same title: then one of them needs another. */
export function createComponentRegistry(): ComponentRegistry {
  const schemas: Record<string, JsonSchema> = {}
  const responses: Record<string, ResponseDescription> = {}

  function register(title: string, schema: JsonSchema): JsonSchema {
    const known = schemas[title]
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two different schemas have the title ${title}`)
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }

  function name(schema: JsonSchema): JsonSchema {
    const inner = mapSubschemas(schema, name)
    const { title, ...rest } = inner
    if (typeof title !== 'string') return inner
    if (!Array.isArray(inner.type)) return register(title, rest)
    return { anyOf: [register(title, withoutNull(rest)), { type: 'null' }] }
  }

  function refuse(status: number, codes: readonly RefusalCode[], audience: Audience): JsonSchema {
    const title = `${prefixes[audience]}${errorResponseName(status, codes)}`
    responses[title] = errorResponse(status, codes, audience)
    return { $ref: `#/components/responses/${title}` }
  }
  return { schemas, nameSchema: name, responses, errorResponse: refuse }
}

/** The schema without the type and value null. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const [type] = [schema.type].flat().filter(type => type !== 'null')
  return {
    ...schema,
    ...(type === undefined ? {} : { type }),
    ...(schema.enum ? { enum: schema.enum.filter(value => value !== null) } : {}),
  }
}

/** The schema with `change` applied to each of its direct subschemas. */
export function mapSubschemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, change(property)])),
    }),
    ...(isSchema(items) && { items: change(items) }),
    ...(Array.isArray(anyOf) && { anyOf: (anyOf as readonly JsonSchema[]).map(change) }),
    ...(isSchema(additionalProperties) && { additionalProperties: change(additionalProperties) }),
  }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
