import { expect } from 'bun:test'
import type { TestHttpServer } from './http-server.ts'

/**
 * Expects that of two changes by callers who read the same, the second is refused and changes nothing until its caller has
 * read again.
 */
export async function expectConditionalChange(
  server: TestHttpServer,
  path: string,
  [first, second]: readonly [object, object],
): Promise<void> {
  const change = async (json: object) => await server.call('PATCH', path, { json })
  const read = (await server.call('GET', path)).json
  expect(read.updated_at).toEqual(expect.any(String))
  const winner = await change({ ...first, if_updated_at: read.updated_at })
  expect(winner.status).toBe(200)
  expect(winner.json.updated_at > read.updated_at).toBe(true)
  const loser = await change({ ...second, if_updated_at: read.updated_at })
  expect([loser.status, loser.json.error]).toMatchObject([
    409,
    { code: 'changed_since_read', requirement: 'read_again', param: 'if_updated_at', retryable: false },
  ])
  expect((await server.call('GET', path)).json).toEqual(winner.json)
  const again = await change({ ...second, if_updated_at: winner.json.updated_at })
  expect([again.status, again.json]).toMatchObject([200, second])
  const invalid = await change({ ...second, if_updated_at: 'today' })
  expect([invalid.status, invalid.json.error?.param]).toEqual([400, 'if_updated_at'])
}
