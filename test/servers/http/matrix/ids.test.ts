import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OperationExample } from '../../../../src/servers/http/openapi/operation.ts'
import { differences, exampleFor, exampleOf, isRecording, record } from './examples.ts'
import { type MatrixFixture, type Outcome, openMatrixFixture } from './fixtures.ts'
import { type MatrixRequest, operations, requestFor } from './operations.ts'
import { unknownIds } from './resources.ts'

/** Every operation with identifiers of another organization and unknown ones; then with valid ones. */
let fixture: MatrixFixture

beforeAll(async () => {
  fixture = await openMatrixFixture()
}, 60_000)
afterAll(async () => {
  await fixture?.close()
  if (isRecording) await record(recorded)
}, 60_000)

const recorded: Record<string, OperationExample> = {}

const outcome = ({ status, code, param }: Outcome) => ({ status, code, param })

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  const { row } = operation

  /** Sends both identifiers, and expects responses that differ only in the identifier. */
  async function expectAlike(
    param: string | undefined,
    foreignId: string,
    unknownId: string,
    requestWith: (id: string) => MatrixRequest,
  ) {
    const [one, other] = [await fixture.send(requestWith(foreignId)), await fixture.send(requestWith(unknownId))]
    expect(outcome(one)).toEqual({ status: 404, code: 'not_found', param })
    expect(one.text.replaceAll(foreignId, 'ID')).toBe(other.text.replaceAll(unknownId, 'ID'))
    expect(other.status).toBe(404)
  }

  for (const [name, kind] of Object.entries(row.path ?? {}))
    test(`treats {${name}} of another organization as unknown`, () =>
      expectAlike(undefined, fixture.foreign[kind], unknownIds[kind], id =>
        requestFor(operation, fixture.own, { [name]: id }),
      ))

  for (const [name, kind] of Object.entries(row.refers ?? {}))
    test(`treats ${name} of another organization as unknown`, () =>
      expectAlike(name, fixture.foreign[kind], unknownIds[kind], id => {
        const { query, body, ...request } = requestFor(operation, fixture.own)
        return name in query
          ? { ...request, body, query: { ...query, [name]: id } }
          : { ...request, query, body: { ...body, [name]: id } }
      }))
})

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  test('accepts the valid request', async () => {
    const request = requestFor(operation, fixture.own)
    const response = await fixture.send(request)
    expect(outcome(response)).toEqual({ status: operation.row.status, code: undefined, param: undefined })
    if (!response.headers.get('content-type')?.startsWith('application/json')) return
    recorded[operation.id] = exampleOf(request, response)
  })

  if (isRecording) return
  test('has an example like the response', () => {
    expect(differences(exampleFor(operation.id), recorded[operation.id])).toEqual([])
  })
})
