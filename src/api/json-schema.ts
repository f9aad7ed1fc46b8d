import type { TypeBoxSchema } from './validation.ts'

/** JSON Schema, draft 2020-12. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

/** The shape of a body, a query or an answer for readers of JSON Schema: without what only the routes need. */
export function jsonSchema(schema: TypeBoxSchema): JsonSchema {
  const { noValidate: _, nullable: __, expected, anyOf, properties, items, patternProperties, ...rest } = schema
  const said = expected !== undefined && rest['description'] === undefined ? { description: describe(expected) } : {}
  const own: JsonSchema = { ...(JSON.parse(JSON.stringify(rest)) as JsonSchema), ...said }
  if (anyOf) return { ...own, ...union(anyOf) }
  return {
    ...own,
    ...(properties ? { properties: mapped(properties) } : {}),
    ...(items ? { items: jsonSchema(items) } : {}),
    ...(patternProperties ? { additionalProperties: recordValues(patternProperties) } : {}),
  }
}

function describe(expected: string): string {
  return `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`
}

function mapped(properties: Readonly<Record<string, TypeBoxSchema>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, jsonSchema(each)]))
}

/** A TypeBox record has one pattern, that of all names. */
function recordValues(patternProperties: unknown): JsonSchema | boolean {
  const [values] = Object.values(patternProperties as Readonly<Record<string, TypeBoxSchema>>)
  return values ? jsonSchema(values) : true
}

function union(all: readonly TypeBoxSchema[]): JsonSchema {
  const branches = all.filter(typeBoxSchema => !isNumberInText(typeBoxSchema))
  const values = branches.filter(branch => branch.type !== 'null')
  const isNullable = values.length < branches.length
  if (values.every(value => typeof value.const === 'string')) {
    const words = values.map(value => value.const)
    return isNullable ? { type: ['string', 'null'], enum: [...words, null] } : { type: 'string', enum: words }
  }
  const shapes = values.map(jsonSchema)
  const [only] = shapes
  if (!isNullable && only && shapes.length === 1) return only
  if (isNullable && only && shapes.length === 1 && typeof only.type === 'string')
    return { ...only, type: [only.type, 'null'], ...(only.enum ? { enum: [...only.enum, null] } : {}) }
  return { anyOf: isNullable ? [...shapes, { type: 'null' }] : shapes }
}

/** Elysia's number is a union that also takes the number as text, for queries. */
function isNumberInText({ type, format }: TypeBoxSchema): boolean {
  return type === 'string' && (format === 'integer' || format === 'numeric')
}
