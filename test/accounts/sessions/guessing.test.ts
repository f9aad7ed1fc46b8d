import { afterAll, beforeAll, expect, test } from 'bun:test'
import { deleteExpiredSignIns } from '../../../src/accounts/sessions/cleanup.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/base/clock.ts'
import type { TestHttpServer } from '../../harness/http-server.ts'
import {
  addAuthenticatorIn,
  auditOf,
  authenticatorCode,
  newBrowser,
  newPersonWithPassword,
  openPeopleServer,
  outcome,
  password,
  signedInBrowser,
} from '../sign-in-browser.ts'

let server: TestHttpServer

beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server.close())

const guess = (email: string, browser = newBrowser(server)) =>
  browser.post('sign-in', { email, password: 'a guess at the password' })

test('guesses from many addresses wait for each other, ever longer, and the audit log has them', async () => {
  const person = await newPersonWithPassword(server)
  const waits = []
  for (let i = 0; i < 13; i++) {
    expect(outcome(await guess(person.email))).toBe('401 sign_in_failed')
    const refused = await guess(person.email)
    expect(outcome(refused)).toBe('429 too_many_attempts')
    const seconds = Number(refused.headers.get('retry-after'))
    waits.push(seconds)
    server.clock.forward(seconds * 1000)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
  expect(await auditOf(server, person.email)).toEqual(
    Array(13).fill(`account.sign_in_failed by ${person.email} from an address`),
  )
})

test('the right password waits as well, and many at once are no faster', async () => {
  const person = await newPersonWithPassword(server)
  const answers = await Promise.all(Array.from({ length: 12 }, () => guess(person.email)))
  expect(answers.map(outcome).sort()).toEqual(['401 sign_in_failed', ...Array(11).fill('429 too_many_attempts')])
  const right = await newBrowser(server).post('sign-in', { email: person.email, password })
  expect(outcome(right)).toBe('429 too_many_attempts')
  server.clock.forward(1000)
  expect((await newBrowser(server).post('sign-in', { email: person.email, password })).status).toBe(200)
  expect(outcome(await guess(person.email))).toBe('401 sign_in_failed')
})

test('the guesses of others do not make a person wait whose browser is known', async () => {
  const person = await newPersonWithPassword(server)
  const own = await signedInBrowser(server, person)
  for (let i = 0; i < 6; i++) {
    await guess(person.email)
    server.clock.forward(2 ** i * 1000)
  }
  await guess(person.email)
  expect(outcome(await newBrowser(server).post('sign-in', { email: person.email, password }))).toBe(
    '429 too_many_attempts',
  )
  expect((await own.post('sign-in', { email: person.email, password })).status).toBe(200)

  // Whoever stole the cookie of that browser waits by themselves, and the cookie of another person helps nobody.
  expect(outcome(await guess(person.email, own))).toBe('401 sign_in_failed')
  expect(outcome(await guess(person.email, own))).toBe('429 too_many_attempts')
  const thief = newBrowser(server)
  const other = await signedInBrowser(server, await newPersonWithPassword(server))
  const name = '__Host-mailroom-browser'
  thief.cookies.set(name, other.cookies.get(name) ?? '')
  expect(outcome(await thief.post('sign-in', { email: person.email, password }))).toBe('429 too_many_attempts')
  thief.cookies.set(
    name,
    (own.cookies.get(name) ?? '').replace(/.$/, last => (last === 'A' ? 'B' : 'A')),
  )
  expect(outcome(await thief.post('sign-in', { email: person.email, password }))).toBe('429 too_many_attempts')
})

test('a network that tries many accounts waits after ten failures, its neighbours in a /64 with it', async () => {
  const addressOf = (i: number) => `2001:db8:1:2::${i.toString(16)}`
  for (let i = 1; i <= 11; i++)
    expect(outcome(await guess(`nobody-${i}@people.test`, newBrowser(server, addressOf(i))))).toBe('401 sign_in_failed')
  const person = await newPersonWithPassword(server)
  const signIn = (ip: string) => newBrowser(server, ip).post('sign-in', { email: person.email, password })
  expect(outcome(await signIn(addressOf(99)))).toBe('429 too_many_attempts')
  expect((await signIn('2001:db8:1:3::1')).status).toBe(200)
  server.clock.forward(1000)
  expect((await signIn(addressOf(99))).status).toBe(200)
  // An own account does not clear what the network did.
  expect(outcome(await guess('nobody@people.test', newBrowser(server, addressOf(1))))).toBe('401 sign_in_failed')
  expect(outcome(await signIn(addressOf(99)))).toBe('429 too_many_attempts')
})

test('guesses at a code wait too, also after the right password, and asking for the code does not clear them', async () => {
  const person = await newPersonWithPassword(server)
  const secret = await addAuthenticatorIn(server, await signedInBrowser(server, person))
  const signIn = (code?: string) =>
    newBrowser(server).post('sign-in', { email: person.email, password, ...(code !== undefined && { code }) })
  server.clock.forward(minuteMs)
  expect(outcome(await signIn('000000'))).toBe('401 sign_in_failed code_wrong')
  server.clock.forward(1000)
  expect(outcome(await signIn())).toBe('401 sign_in_failed code_required')
  expect(outcome(await signIn('000001'))).toBe('401 sign_in_failed code_wrong')
  server.clock.forward(1000)
  expect(outcome(await signIn('000002'))).toBe('429 too_many_attempts')
  server.clock.forward(1000)
  expect((await signIn(await authenticatorCode(server, secret))).status).toBe(200)
})

test('guesses at a confirmation wait', async () => {
  const person = await newPersonWithPassword(server)
  const browser = await signedInBrowser(server, person)
  const confirm = (text: string) => browser.post('confirm', { password: text })
  expect(outcome(await confirm('a guess at the password'))).toBe('401 sign_in_failed not_confirmed')
  expect(outcome(await confirm(password))).toBe('429 too_many_attempts')
  server.clock.forward(1000)
  expect((await confirm(password)).status).toBe(200)
})

test('failures are forgotten after a day, and what has expired is deleted', async () => {
  const { db } = server.database
  const { clock } = server
  const person = await newPersonWithPassword(server)
  for (let i = 0; i < 4; i++) {
    await guess(person.email)
    server.clock.forward(minuteMs)
  }
  const live = await signedInBrowser(server, person)
  server.clock.forward(dayMs + hourMs)
  await db
    .insertInto('passkey_challenges')
    .values({ challenge_hash: Buffer.alloc(32), expires_at: clock.now() })
    .execute()
  expect(await deleteExpiredSignIns({ db, clock }, 1)).toBe(1)
  while ((await deleteExpiredSignIns({ db, clock }, 100)) > 0);
  expect(await db.selectFrom('sign_in_failures').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('passkey_challenges').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('sessions').selectAll().where('user_id', '=', person.id).execute()).toHaveLength(1)
  expect(outcome(await live.get('session'))).toBe('401 session_required')
  server.clock.forward(7 * dayMs)
  expect(await deleteExpiredSignIns({ db, clock }, 100)).toBeGreaterThan(0)
  expect(await db.selectFrom('sessions').selectAll().execute()).toEqual([])
})
