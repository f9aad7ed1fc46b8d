import { afterAll, beforeAll, expect, test } from 'bun:test'
import { addOperator, listOperators, removeOperator } from '../../../src/accounts/users/operators.ts'
import { dayMs, minuteMs, plusMs } from '../../../src/base/clock.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { testClock } from '../../harness/http-server.ts'
import { newUser, signIn } from '../people.ts'

let database: FreshDatabase
const clock = testClock()

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

test('an operator without an account gets one, and a link of which only the hash is stored', async () => {
  const { db } = database
  const added = await addOperator(db, 'ops@people.test', clock)
  expect(added).toMatchObject({ email: 'ops@people.test', wasOperator: false })
  const { token, expiresAt } = added.link ?? {}
  expect(token).toMatch(/^[\w-]{43}$/)
  const now = clock.now()
  expect(expiresAt && expiresAt > plusMs(now, dayMs - minuteMs) && expiresAt < plusMs(now, dayMs)).toBe(true)
  const [row] = await db.selectFrom('login_links').selectAll().where('user_id', '=', added.userId).execute()
  expect(row?.token_hash.toString('hex')).toBe(new Bun.CryptoHasher('sha256').update(token ?? '').digest('hex'))
  expect(row).toMatchObject({ member_id: null, used_at: null })
  expect(JSON.stringify(row)).not.toContain(token)
})

test('naming them again before they signed in gives another link, afterwards none', async () => {
  const { db } = database
  const first = await addOperator(db, 'twice@people.test', clock)
  const second = await addOperator(db, 'twice@people.test', clock)
  expect(second).toMatchObject({ userId: first.userId, wasOperator: true })
  expect(second.link?.token).not.toBe(first.link?.token)
  await signIn(db, first.userId, clock)
  expect((await addOperator(db, 'twice@people.test', clock)).link).toBeNull()
})

test('a person with an account keeps it when they become an operator, and when they no longer are', async () => {
  const { db } = database
  const user = await newUser(db, clock)
  await signIn(db, user.id, clock)
  expect(await addOperator(db, user.email, clock)).toEqual({
    userId: user.id,
    email: user.email,
    name: user.name,
    accountCreatedAt: user.created_at,
    wasOperator: false,
    link: null,
  })
  const listed = async () => (await listOperators(db)).some(({ userId }) => userId === user.id)
  expect(await listed()).toBe(true)
  expect(await removeOperator(db, { actor: 'root', clock }, user.email)).toBe(user.id)
  expect(await listed()).toBe(false)
  expect(await removeOperator(db, { actor: 'root', clock }, user.email)).toBeUndefined()
  expect(await removeOperator(db, { actor: 'root', clock }, 'nobody@people.test')).toBeUndefined()
})
