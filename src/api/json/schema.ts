import { isNumberInText, type TypeBoxSchema } from '../validation.ts'

/** JSON Schema, draft 2020-12. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

/** The JSON Schema of a TypeBox schema, without the keywords that only our validation uses. */
export function jsonSchema(schema: TypeBoxSchema): JsonSchema {
  const {
    noValidate: _,
    nullable: __,
    documented,
    expected,
    anyOf,
    properties,
    items,
    patternProperties,
    ...rest
  } = schema
  if (documented) return documentedSchema(documented as TypeBoxSchema, rest['description'])
  const description =
    expected === undefined || rest['description'] !== undefined ? {} : { description: sentence(expected) }
  const own: JsonSchema = { ...(JSON.parse(JSON.stringify(rest)) as JsonSchema), ...description }
  if (anyOf) return { ...own, ...union(anyOf) }
  return {
    ...own,
    ...(properties ? { properties: mapProperties(properties) } : {}),
    ...(items ? { items: jsonSchema(items) } : {}),
    ...(patternProperties ? { additionalProperties: recordValues(patternProperties) } : {}),
  }
}

/** A schema that is described by another than the one that validates. */
function documentedSchema(documented: TypeBoxSchema, description: unknown): JsonSchema {
  return { ...jsonSchema(documented), ...(description === undefined ? {} : { description }) }
}

function sentence(expected: string): string {
  return `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`
}

function mapProperties(properties: Readonly<Record<string, TypeBoxSchema>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, jsonSchema(property)]))
}

/** A TypeBox record has one pattern, which all names match. */
function recordValues(patternProperties: unknown): JsonSchema | boolean {
  const [values] = Object.values(patternProperties as Readonly<Record<string, TypeBoxSchema>>)
  return values ? jsonSchema(values) : true
}

function union(all: readonly TypeBoxSchema[]): JsonSchema {
  const branches = all.filter(branch => !isNumberInText(branch))
  const values = branches.filter(branch => branch.type !== 'null')
  const isNullable = values.length < branches.length
  if (values.every(value => typeof value.const === 'string')) {
    const words = values.map(value => value.const)
    return isNullable ? { type: ['string', 'null'], enum: [...words, null] } : { type: 'string', enum: words }
  }
  const schemas = values.map(jsonSchema)
  const [only] = schemas
  if (!isNullable && only && schemas.length === 1) return only
  if (isNullable && only && schemas.length === 1 && typeof only.type === 'string')
    return { ...only, type: [only.type, 'null'], ...(only.enum ? { enum: [...only.enum, null] } : {}) }
  return { anyOf: isNullable ? [...schemas, { type: 'null' }] : schemas }
}
