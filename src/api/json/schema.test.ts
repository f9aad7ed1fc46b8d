import { expect, test } from 'bun:test'
import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../common-schemas.ts'
import type { TypeBoxSchema } from '../validation.ts'
import { jsonSchema } from './schema.ts'

const of = (schema: unknown) => jsonSchema(schema as TypeBoxSchema)

test('turns a choice of strings into an enum', () => {
  expect(of(oneOf(['to', 'cc'], { description: 'Which.' }))).toEqual({
    type: 'string',
    enum: ['to', 'cc'],
    description: 'Which.',
  })
})

test('turns a nullable schema into a union of types', () => {
  expect(of(nullable(dateTimeSchema))).toEqual({ type: ['string', 'null'], format: 'date-time' })
  expect(of(nullable(oneOf(['a', 'b'])))).toEqual({ type: ['string', 'null'], enum: ['a', 'b', null] })
  expect(of(nullable(t.Object({ a: t.String() })))).toEqual({
    type: ['object', 'null'],
    properties: { a: { type: 'string' } },
    required: ['a'],
  })
})

test('keeps the branches of another union', () => {
  expect(of(t.Union([t.String(), t.Array(t.String())]))).toEqual({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  })
})

test('turns a record into the schema of its values, and `expected` into a description', () => {
  expect(of(t.Object({ metadata: t.Record(t.String(), t.String({ expected: 'a word' })) }))).toEqual({
    type: 'object',
    properties: { metadata: { type: 'object', additionalProperties: { type: 'string', description: 'A word.' } } },
    required: ['metadata'],
  })
})

test('turns a number of Elysia into a number', () => {
  expect(of(t.Integer({ minimum: 1, description: 'Seconds.' }))).toEqual({
    type: 'integer',
    minimum: 1,
    description: 'Seconds.',
  })
  expect(of(nullable(t.Integer()))).toEqual({ type: ['integer', 'null'] })
})
