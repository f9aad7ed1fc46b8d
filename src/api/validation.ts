import { getSchemaValidator, t } from 'elysia'
import { type Refusal, refuse } from '../base/refusal.ts'

/** The keywords of a TypeBox schema that are used here. */
export interface TypeBoxSchema {
  readonly type?: string
  readonly anyOf?: readonly TypeBoxSchema[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, TypeBoxSchema>>
  readonly items?: TypeBoxSchema
  readonly default?: unknown
  /** Our own keyword: describes a valid value, for the error message of an invalid one. */
  readonly expected?: string
  /** Our own keyword: the schema that the OpenAPI document has in place of this one. */
  readonly documented?: TypeBoxSchema
  readonly [keyword: string]: unknown
}

/** A validation error of TypeBox; `path` is a JSON pointer (RFC 6901). */
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

/** The same schema with unknown properties refused in all its objects. */
function strict(schema: TypeBoxSchema): TypeBoxSchema {
  const copy: Record<string | symbol, unknown> = { ...schema }
  if (schema.properties) {
    copy['properties'] = mapValues(schema.properties, strict)
    copy['additionalProperties'] ??= false
  }
  if (schema.items) copy['items'] = strict(schema.items)
  if (schema.anyOf) copy['anyOf'] = schema.anyOf.filter(branch => !isNumberInText(branch)).map(strict)
  return copy as TypeBoxSchema
}

/** Elysia's number is a union that accepts a number as text too: right for a query, wrong for JSON. */
export function isNumberInText({ type, format }: TypeBoxSchema): boolean {
  return type === 'string' && (format === 'integer' || format === 'numeric')
}

function compile(schema: TypeBoxSchema): Validator {
  return getSchemaValidator(strict(schema) as never, { normalize: false }) as unknown as Validator
}

/**
 * A function that validates a body and gives it back with the defaults of its top-level properties. It throws Refusal
 * `invalid_request`, which names the parameter and its value. The schema is compiled at the first body: all of them
 * together would take a tenth of the time in which a process starts.
 */
export function bodyValidator(schema: TypeBoxSchema): (body: unknown) => unknown {
  let compiled: Validator | undefined
  const defaults = Object.entries(schema.properties ?? {}).filter(([, property]) => property.default !== undefined)
  return body => {
    const filled =
      defaults.length > 0 && isRecord(body)
        ? { ...Object.fromEntries(defaults.map(([name, property]) => [name, property.default])), ...body }
        : body
    compiled ??= compile(schema)
    const validator = compiled
    if (validator.Check(filled)) return filled
    throw refuseInvalid(validator.Errors(filled), filled)
  }
}

/** The body of operations that have none. */
export const emptyBodySchema = t.Object({}, { additionalProperties: false })

const maxViolations = 50

/** The refusals of a request that does not match its schema. */
export const validationRefusals = ['invalid_request'] as const

/** The part of a request that was validated. */
export type RequestPart = 'body' | 'query'

/**
 * The refusal that names the invalid parameter, its value and what was expected: an unknown parameter if there is one, else
 * the first violation.
 * @param whole the value that was validated
 */
export function refuseInvalid(
  violations: Iterable<SchemaViolation>,
  whole: unknown,
  part: RequestPart = 'body',
): Refusal {
  const reported = reportedViolation(violations)
  return reported
    ? refuseViolation(reported, whole, part)
    : refuse('invalid_request', { message: 'The request is invalid.' })
}

/** An unknown parameter if there is one, else the first violation. */
function reportedViolation(violations: Iterable<SchemaViolation>): SchemaViolation | undefined {
  let first: SchemaViolation | undefined
  let seen = 0
  for (const violation of violations) {
    if (seen++ === maxViolations) break
    if (violation.message === unexpected) return violation
    first ??= violation
  }
  return first
}

const unexpected = 'Unexpected property'

function refuseViolation(violation: SchemaViolation, whole: unknown, part: RequestPart): Refusal {
  const deepest = deepestViolation(violation)
  const param = paramOf(deepest.path, whole)
  const named = deepest.path === '' ? `The request ${part}` : param === '' ? 'An empty name' : `\`${param}\``
  const message =
    deepest.message === unexpected
      ? `${named} is not a parameter of this operation.`
      : deepest.value === undefined
        ? `${named} is required: expected ${expectedBy(deepest.schema)}.`
        : `${named} is ${shown(deepest.value)}; expected ${expectedBy(deepest.schema)}.`
  return refuse('invalid_request', { message, ...(param === '' ? {} : { param }) })
}

/** The violation of a union says little: that of the branch which matched furthest into the value says what is wrong. */
function deepestViolation(violation: SchemaViolation): SchemaViolation {
  let deepest: SchemaViolation | undefined
  for (const branch of violation.errors ?? []) {
    const reported = reportedViolation(branch)
    const found = reported && deepestViolation(reported)
    if (found && found.path.length > (deepest ?? violation).path.length) deepest = found
  }
  return deepest ?? violation
}

/**
 * Requires that a query, or a form in the same encoding, gives each parameter once.
 * @param query may begin with `?`, or be empty
 * @throws Refusal `invalid_request`
 */
export function requireDistinctParameters(query: string): void {
  if (!query.includes('&')) return
  const seen = new Set<string>()
  for (const name of new URLSearchParams(query).keys()) {
    if (seen.has(name)) {
      const param = name.slice(0, 200)
      throw refuse('invalid_request', {
        message: `${name === '' ? 'An empty name' : `\`${param}\``} is given more than once.`,
        ...(name === '' ? {} : { param }),
      })
    }
    seen.add(name)
  }
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
  if (Array.isArray(schema['enum'])) return schema['enum'].map(value => JSON.stringify(value)).join(' or ')
  switch (schema.type) {
    case 'string':
      return `a string${rangeOf(schema['minLength'], schema['maxLength'], 'characters')}${
        schema['format']
          ? ` in the form ${schema['format']}`
          : schema['pattern']
            ? ` that matches ${schema['pattern']}`
            : ''
      }`
    case 'array':
      return `a list${rangeOf(schema['minItems'], schema['maxItems'], 'items')}`
    case 'object':
      return `an object${rangeOf(schema['minProperties'], schema['maxProperties'], 'properties')}`
    case 'integer':
      return `a whole number${rangeOf(schema['minimum'], schema['maximum'], '')}`
    case 'number':
      return `a number${rangeOf(schema['minimum'], schema['maximum'], '')}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    default:
      return 'another value'
  }
}

function rangeOf(min: unknown, max: unknown, unit: string): string {
  const of = unit === '' ? '' : ` ${unit}`
  if (min !== undefined && max !== undefined) return ` (${min} to ${max}${of})`
  if (min !== undefined) return ` (at least ${min}${of})`
  return max === undefined ? '' : ` (at most ${max}${of})`
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
