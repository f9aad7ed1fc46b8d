import { getSchemaValidator, t } from 'elysia'
import { type Refusal, refuse } from '../base/refusal.ts'

/** What is used here of a TypeBox schema. */
export interface TypeBoxSchema {
  readonly type?: string
  readonly anyOf?: readonly TypeBoxSchema[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, TypeBoxSchema>>
  readonly items?: TypeBoxSchema
  readonly default?: unknown
  /** Ours: what a right value looks like, for the sentence that refuses a wrong one. */
  readonly expected?: string
  readonly [keyword: string]: unknown
}

/** One thing that is wrong with a value, as TypeBox tells it: `path` is a JSON pointer (RFC 6901). */
export interface SchemaViolation {
  readonly path: string
  readonly message: string
  readonly schema: TypeBoxSchema
  readonly value: unknown
  readonly errors?: readonly Iterable<SchemaViolation>[]
}

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): Iterable<SchemaViolation>
}

/** The same schema, with no object anywhere in it that takes properties it does not name. */
function strict(schema: TypeBoxSchema): TypeBoxSchema {
  const copy: Record<string | symbol, unknown> = { ...schema }
  if (schema.properties) {
    copy['properties'] = mapValues(schema.properties, strict)
    copy['additionalProperties'] ??= false
  }
  if (schema.items) copy['items'] = strict(schema.items)
  if (schema.anyOf) copy['anyOf'] = schema.anyOf.filter(typeBoxSchema => !isNumberInText(typeBoxSchema)).map(strict)
  return copy as TypeBoxSchema
}

/** Elysia's numbers take the number as text too, which is right for a query and wrong for JSON. */
function isNumberInText({ type, format }: TypeBoxSchema): boolean {
  return type === 'string' && (format === 'integer' || format === 'numeric')
}

/**
 * A function that gives the body back as the schema has it, defaults of its own properties filled in.
 * It throws Refusal `invalid_request` that names the parameter and the value at fault.
 */
export function bodyValidator(schema: TypeBoxSchema): (body: unknown) => unknown {
  const validator = getSchemaValidator(strict(schema) as never, { normalize: false }) as unknown as Validator
  const defaults = Object.entries(schema.properties ?? {}).filter(([, each]) => each.default !== undefined)
  return body => {
    const filled =
      defaults.length > 0 && isRecord(body)
        ? { ...Object.fromEntries(defaults.map(([name, each]) => [name, each.default])), ...body }
        : body
    if (validator.Check(filled)) return filled
    throw refuseInvalid(validator.Errors(filled), filled)
  }
}

/** A body that holds nothing: for operations that take none. */
export const emptyBodySchema = t.Object({}, { additionalProperties: false })

const maxFaults = 50

/** The refusals of a request that does not match its schema. */
export const validationRefusals = ['invalid_request'] as const

/**
 * The refusal that says which parameter is wrong, what it holds and what was expected: one that the operation does not
 * know, else the first fault. `whole`: what was validated.
 */
export function refuseInvalid(faults: Iterable<SchemaViolation>, whole: unknown): Refusal {
  let fault: SchemaViolation | undefined
  let seen = 0
  for (const schemaViolation of faults) {
    if (seen++ === maxFaults) break
    fault ??= schemaViolation
    if (schemaViolation.message !== unexpected) continue
    fault = schemaViolation
    break
  }
  return fault
    ? refuseViolation(fault, whole)
    : refuse('invalid_request', { message: 'The request is not as it should be.' })
}

const unexpected = 'Unexpected property'

function refuseViolation(fault: SchemaViolation, whole: unknown): Refusal {
  const deepest = descend(fault)
  const param = paramOf(deepest.path, whole)
  const named = param === '' ? 'The request body' : `\`${param}\``
  const message =
    deepest.message === unexpected
      ? `${named} is not a parameter of this operation.`
      : deepest.value === undefined
        ? `${named} is required: expected ${expectedBy(deepest.schema)}.`
        : `${named} is ${shown(deepest.value)}; expected ${expectedBy(deepest.schema)}.`
  return refuse('invalid_request', { message, ...(param === '' ? {} : { param }) })
}

/** A union's own fault says little; the branch that got furthest into the value says what is wrong there. */
function descend(fault: SchemaViolation): SchemaViolation {
  let deepest: SchemaViolation | undefined
  for (const branch of fault.errors ?? [])
    for (const first of branch) {
      const found = descend(first)
      if (found.path.length > (deepest ?? fault).path.length) deepest = found
      break
    }
  return deepest ?? fault
}

/** `/to/3` as `to[3]`, `/attachments/0/content` as `attachments[0].content`. */
function paramOf(pointer: string, whole: unknown): string {
  let at = whole
  let param = ''
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    param += Array.isArray(at) ? `[${name}]` : param === '' ? name : `.${name}`
    at = isRecord(at) || Array.isArray(at) ? (at as Record<string, unknown>)[name] : undefined
  }
  return param.slice(0, 200)
}

function expectedBy(schema: TypeBoxSchema): string {
  if (schema.expected) return schema.expected
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return [...new Set(schema.anyOf.map(expectedBy))].join(' or ')
  if (Array.isArray(schema['enum'])) return schema['enum'].map(each => JSON.stringify(each)).join(' or ')
  switch (schema.type) {
    case 'string':
      return `a string${lengths(schema['minLength'], schema['maxLength'], 'characters')}${
        schema['format']
          ? ` in the form ${schema['format']}`
          : schema['pattern']
            ? ` that matches ${schema['pattern']}`
            : ''
      }`
    case 'array':
      return `a list${lengths(schema['minItems'], schema['maxItems'], 'items')}`
    case 'object':
      return `an object${lengths(schema['minProperties'], schema['maxProperties'], 'properties')}`
    case 'integer':
      return `a whole number${lengths(schema['minimum'], schema['maximum'], '')}`
    case 'number':
      return `a number${lengths(schema['minimum'], schema['maximum'], '')}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    default:
      return 'another value'
  }
}

function lengths(least: unknown, most: unknown, unit: string): string {
  const of = unit === '' ? '' : ` ${unit}`
  if (least !== undefined && most !== undefined) return ` (${least} to ${most}${of})`
  if (least !== undefined) return ` (at least ${least}${of})`
  return most === undefined ? '' : ` (at most ${most}${of})`
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'string' && value.length > 80)
    return `${JSON.stringify(value.slice(0, 80))}… (${value.length} characters)`
  return JSON.stringify(value) ?? String(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapValues<From, To>(from: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, change(value)]))
}
