import { expect } from 'bun:test'
import type { Db } from '../../src/base/database/database.ts'
import type { CallResult, TestHttpServer } from './http-server.ts'

/** What can be read, and changed by a body with `if_updated_at`. */
export interface ConditionallyChanged {
  /** Where the audit log is. */
  readonly db: Db
  read(): Promise<CallResult['json']>
  change(json: object): Promise<Pick<CallResult, 'status' | 'json'>>
}

/**
 * Expects that of two changes by callers who read the same, the second is refused and changes nothing until its caller has
 * read again, and that what is already so is no change, which neither is dated nor stands in the audit log.
 */
export async function expectConditionalChange(
  server: TestHttpServer,
  path: string,
  changes: readonly [object, object],
): Promise<void> {
  const change = (json: object) => server.call('PATCH', path, { json })
  const read = async () => (await server.call('GET', path)).json
  await expectConditionalChangeOf({ db: server.database.db, read, change }, changes)
}

/** The same for what is not at one path. */
export async function expectConditionalChangeOf(
  { db, read, change }: ConditionallyChanged,
  [first, second]: readonly [object, object],
): Promise<void> {
  const before = await read()
  expect(before.updated_at).toEqual(expect.any(String))
  const winner = await change({ ...first, if_updated_at: before.updated_at })
  expect([winner.status, winner.json]).toMatchObject([200, first])
  const saved = await read()
  expect(saved.updated_at > before.updated_at).toBe(true)
  const loser = await change({ ...second, if_updated_at: before.updated_at })
  expect([loser.status, loser.json.error]).toMatchObject([
    409,
    { code: 'changed_since_read', requirement: 'read_again', param: 'if_updated_at', retryable: false },
  ])
  expect(await read()).toEqual(saved)
  const again = await change({ ...second, if_updated_at: saved.updated_at })
  expect([again.status, again.json]).toMatchObject([200, second])
  const countEntries = async () => (await db.selectFrom('audit_log').select('id').execute()).length
  const unchanged = [await read(), await countEntries()]
  expect((await change(second)).status).toBe(200)
  expect([await read(), await countEntries()]).toEqual(unchanged)
  const invalid = await change({ ...second, if_updated_at: 'today' })
  expect([invalid.status, invalid.json.error?.param]).toEqual([400, 'if_updated_at'])
}
