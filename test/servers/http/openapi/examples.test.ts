import { afterAll, beforeAll, expect, test } from 'bun:test'
import examples from '../../../../src/servers/http/openapi/examples.json'
import type { OperationExample } from '../../../../src/servers/http/openapi/operation.ts'
import { openApiDocument } from '../../../harness/openapi-document.ts'
import { fetchValidated } from '../../../harness/openapi-validation.ts'
import { startUp, temporaryFolder, type UpProcess } from '../../../harness/up.ts'

/** What `/docs` offers to be tried out, against `./mailroom up`, where it is tried out. */
let folder: ReturnType<typeof temporaryFolder>
let up: UpProcess

beforeAll(async () => {
  folder = temporaryFolder()
  up = await startUp(folder.path)
}, 90_000)
afterAll(async () => {
  await up?.end()
  folder?.remove()
}, 60_000)

/** The operations whose example names nothing that only the Mailroom has that recorded it. */
const selfContained = Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId }]) => {
    const example = (examples as Readonly<Record<string, OperationExample>>)[operationId]
    const isAlone = !path.includes('{') && example?.request && !/_01jx|domain/.test(JSON.stringify(example.request))
    return isAlone ? [[operationId, { method: method.toUpperCase(), path, example }] as const] : []
  }),
)

test('one of them sends an email', () => {
  expect(selfContained.map(([id]) => id)).toEqual(expect.arrayContaining(['sendEmail', 'createBrand', 'createDraft']))
})

test.each(selfContained)('the example of %s works', async (_, { method, path, example }) => {
  const response = await fetchValidated(`${up.file.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${up.file.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(example.request),
  })
  expect([response.status, response.ok ? null : await response.text()]).toEqual([example.status, null])
})
