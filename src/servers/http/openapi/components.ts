import type { ResponseDescription } from '../../../api/describe.ts'
import type { JsonSchema } from '../../../api/json-schema.ts'
import type { RefusalCode } from '../../../base/refusal.ts'
import { errorResponse, errorResponseName } from './responses.ts'

/** What of the document stands under a name of its own. */
export interface ComponentRegistry {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** The same schema; what carries a `title` is put among the components, and a reference stands in its place. */
  nameSchema(schema: JsonSchema): JsonSchema
  readonly responses: Readonly<Record<string, ResponseDescription>>
  /** A reference to that answer, which is put among the components; `isApi`: below /v1. */
  errorResponse(status: number, codes: readonly RefusalCode[], isApi: boolean): JsonSchema
}

/** @throws when two shapes that differ have one title: then one of them needs another. */
export function createComponentRegistry(): ComponentRegistry {
  const schemas: Record<string, JsonSchema> = {}
  const responses: Record<string, ResponseDescription> = {}

  function keep(title: string, schema: JsonSchema): JsonSchema {
    const known = schemas[title]
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two shapes that differ have the title ${title}`)
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }

  function name(schema: JsonSchema): JsonSchema {
    const inner = mapSubschemas(schema, name)
    const { title, ...rest } = inner
    if (typeof title !== 'string') return inner
    if (!Array.isArray(inner.type)) return keep(title, rest)
    return { anyOf: [keep(title, withoutNull(rest)), { type: 'null' }] }
  }

  function refuse(status: number, codes: readonly RefusalCode[], isApi: boolean): JsonSchema {
    const title = `${isApi ? '' : 'Public'}${errorResponseName(status, codes)}`
    responses[title] = errorResponse(status, codes, isApi)
    return { $ref: `#/components/responses/${title}` }
  }
  return { schemas, nameSchema: name, responses, errorResponse: refuse }
}

/** What JSON schema a shape has where it may not be null. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const [type] = [schema.type].flat().filter(each => each !== 'null')
  return {
    ...schema,
    ...(type === undefined ? {} : { type }),
    ...(schema.enum ? { enum: schema.enum.filter(each => each !== null) } : {}),
  }
}

/** The same schema, with `change` made to each schema that it directly holds. */
export function mapSubschemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, change(each)])),
    }),
    ...(isSchema(items) && { items: change(items) }),
    ...(Array.isArray(anyOf) && { anyOf: (anyOf as readonly JsonSchema[]).map(change) }),
    ...(isSchema(additionalProperties) && { additionalProperties: change(additionalProperties) }),
  }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
