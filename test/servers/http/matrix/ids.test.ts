import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OperationExample } from '../../../../src/servers/http/openapi/operation.ts'
import { differences, exampleFor, exampleOf, isRecording, record } from './examples.ts'
import { type MatrixFixture, type Outcome, openMatrixFixture } from './fixtures.ts'
import { type MatrixRequest, operations, requestFor } from './operations.ts'
import { unknownIds } from './resources.ts'

/** Every operation with identifiers that are another organization's or nobody's; then with the right ones. */
let ground: MatrixFixture

beforeAll(async () => {
  ground = await openMatrixFixture()
}, 60_000)
afterAll(async () => {
  await ground?.close()
  if (isRecording) await record(heardAll)
}, 60_000)

const heardAll: Record<string, OperationExample> = {}

const outcome = ({ status, code, param }: Outcome) => ({ status, code, param })

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  const { row } = operation

  /** Asks with both, and expects the same answer but for what it names. */
  async function expectAlike(
    param: string | undefined,
    theirs: string,
    nobodys: string,
    ask: (id: string) => MatrixRequest,
  ) {
    const [one, other] = [await ground.send(ask(theirs)), await ground.send(ask(nobodys))]
    expect(outcome(one)).toEqual({ status: 404, code: 'not_found', param })
    expect(one.text.replaceAll(theirs, 'ID')).toBe(other.text.replaceAll(nobodys, 'ID'))
    expect(other.status).toBe(404)
  }

  for (const [name, kind] of Object.entries(row.path ?? {}))
    test(`takes another organization's {${name}} for nobody's`, () =>
      expectAlike(undefined, ground.foreign[kind], unknownIds[kind], id =>
        requestFor(operation, ground.own, { [name]: id }),
      ))

  for (const [name, kind] of Object.entries(row.refers ?? {}))
    test(`takes another organization's ${name} for nobody's`, () =>
      expectAlike(name, ground.foreign[kind], unknownIds[kind], id => {
        const { query, body, ...asking } = requestFor(operation, ground.own)
        return name in query
          ? { ...asking, body, query: { ...query, [name]: id } }
          : { ...asking, query, body: { ...body, [name]: id } }
      }))
})

describe.each(operations.map(operation => [operation.id, operation] as const))('%s', (_, operation) => {
  test('does what it is asked when all is right', async () => {
    const asking = requestFor(operation, ground.own)
    const heard = await ground.send(asking)
    expect(outcome(heard)).toEqual({ status: operation.row.status, code: undefined, param: undefined })
    if (!heard.headers.get('content-type')?.startsWith('application/json')) return
    heardAll[operation.id] = exampleOf(asking, heard)
  })

  if (isRecording) return
  test('has an example that such an answer was', () => {
    expect(differences(exampleFor(operation.id), heardAll[operation.id])).toEqual([])
  })
})
