import { afterAll, beforeAll, expect, test } from 'bun:test'
import { minuteMs } from '../../../src/base/clock.ts'
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

test('a password signs in, and the answer says who it is', async () => {
  const person = await newPersonWithPassword(server)
  const browser = newBrowser(server)
  expect(outcome(await browser.get('session'))).toBe('401 session_required')
  const answer = await browser.post('sign-in', { email: ` ${person.email.toUpperCase()}`.trim(), password })
  expect([answer.status, answer.json]).toEqual([
    200,
    {
      user: { id: person.id, email: person.email, name: person.name },
      is_operator: false,
      needs_factor: false,
      is_confirmed: true,
      is_localhost: false,
      organizations: [],
    },
  ])
  expect((await browser.get('session')).json).toEqual(answer.json)
  const cookie = answer.headers.getSetCookie().find(header => header.startsWith('__Host-mailroom='))
  expect(cookie).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/)
  expect(await auditOf(server, person.id)).toEqual([`account.sign_in by ${person.email} from an address`])
})

test('an unknown person and a wrong password get the same answer, after as long', async () => {
  const person = await newPersonWithPassword(server)
  const withoutPassword = await newPersonWithPassword(server)
  await server.database.db
    .updateTable('users')
    .set({ password_hash: null })
    .where('id', '=', withoutPassword.id)
    .execute()
  const ask = async (email: string) => {
    const startedMs = performance.now()
    const { status, json, headers } = await newBrowser(server).post('sign-in', { email, password: 'not the password' })
    const { request_id: _, ...error } = json.error
    return { ms: performance.now() - startedMs, answer: { status, error, cookies: headers.getSetCookie() } }
  }
  const answers: ({ email: string } & Awaited<ReturnType<typeof ask>>)[] = []
  for (let round = 0; round < 3; round++) {
    for (const email of [person.email, withoutPassword.email, 'nobody@people.test'])
      answers.push({ email, ...(await ask(email)) })
    server.clock.forward(60 * minuteMs)
  }
  expect(new Set(answers.map(({ answer }) => JSON.stringify(answer))).size).toBe(1)
  const fastest = (email: string) => Math.min(...answers.filter(each => each.email === email).map(({ ms }) => ms))
  const times = [person.email, withoutPassword.email, 'nobody@people.test'].map(fastest)
  process.stdout.write(`wrong password, no password, unknown person: ${times.map(ms => ms.toFixed(1)).join(', ')} ms\n`)
  expect(Math.max(...times) / Math.min(...times)).toBeLessThan(2.5)
})

test('a sign-in begins a new session, and ends the one that the browser had', async () => {
  const [person, other] = [await newPersonWithPassword(server), await newPersonWithPassword(server)]
  const planted = await signedInBrowser(server, other)
  const before = planted.cookies.get('__Host-mailroom') ?? ''
  const browser = newBrowser(server)
  browser.cookies.set('__Host-mailroom', before)
  expect((await browser.post('sign-in', { email: person.email, password })).status).toBe(200)
  expect(browser.cookies.get('__Host-mailroom')).not.toBe(before)
  expect((await browser.get('session')).json.user.email).toBe(person.email)
  expect(outcome(await planted.get('session'))).toBe('401 session_required')

  const again = newBrowser(server)
  again.cookies.set('__Host-mailroom', `${'0'.repeat(26)}.${'A'.repeat(43)}`)
  expect((await again.post('sign-in', { email: person.email, password })).status).toBe(200)
  expect(again.cookies.get('__Host-mailroom')).not.toContain('AAAA')
})

test('signing out ends the session, also for whoever copied its cookie', async () => {
  const browser = await signedInBrowser(server, await newPersonWithPassword(server))
  const copy = newBrowser(server)
  copy.cookies.set('__Host-mailroom', browser.cookies.get('__Host-mailroom') ?? '')
  expect((await copy.get('session')).status).toBe(200)
  expect((await browser.post('sign-out')).json).toEqual({ signed_out: true })
  expect(browser.cookies.has('__Host-mailroom')).toBe(false)
  expect(outcome(await copy.get('session'))).toBe('401 session_required')
})

test('an authenticator adds its code to the password, each code once', async () => {
  const person = await newPersonWithPassword(server)
  const first = await signedInBrowser(server, person)
  const secret = await addAuthenticatorIn(server, first)
  const browser = newBrowser(server)
  const signIn = (code?: string) => browser.post('sign-in', { email: person.email, password, ...(code && { code }) })
  const wrong = await browser.post('sign-in', { email: person.email, password: 'not the password', code: '000000' })
  expect(outcome(wrong)).toBe('401 sign_in_failed')
  server.clock.forward(minuteMs)
  expect(outcome(await signIn())).toBe('401 sign_in_failed code_required')

  const code = await authenticatorCode(server, secret)
  expect((await signIn(code)).status).toBe(200)
  expect(outcome(await newBrowser(server).post('sign-in', { email: person.email, password, code }))).toBe(
    '401 sign_in_failed code_wrong',
  )
  server.clock.forward(5 * minuteMs)
  expect(outcome(await signIn(code))).toBe('401 sign_in_failed code_wrong')
  server.clock.forward(5 * minuteMs)
  expect((await signIn((await authenticatorCode(server, secret)).replace(/^(...)/, '$1 '))).status).toBe(401)
  server.clock.forward(5 * minuteMs)
  expect((await signIn(await authenticatorCode(server, secret))).status).toBe(200)
})

test('of several sign-ins with one code at the same time one succeeds', async () => {
  const person = await newPersonWithPassword(server)
  // Browsers that know the person do not wait for each other.
  const browsers = []
  for (let i = 0; i < 4; i++) browsers.push(await signedInBrowser(server, person))
  const [first] = browsers
  if (!first) throw new Error('there is no browser')
  const secret = await addAuthenticatorIn(server, first)
  server.clock.forward(minuteMs)
  const code = await authenticatorCode(server, secret)
  const answers = await Promise.all(browsers.map(each => each.post('sign-in', { email: person.email, password, code })))
  expect(answers.map(outcome).sort()).toEqual(['200', ...Array(3).fill('401 sign_in_failed code_wrong')])
})

test('a backup code stands for the authenticator, once', async () => {
  const person = await newPersonWithPassword(server)
  const first = await signedInBrowser(server, person)
  await addAuthenticatorIn(server, first)
  const { codes } = (await first.post('account/backup-codes')).json
  expect(codes).toHaveLength(10)
  expect(codes[0]).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
  const rows = await server.database.db
    .selectFrom('backup_codes')
    .selectAll()
    .where('user_id', '=', person.id)
    .execute()
  expect(JSON.stringify(rows)).not.toContain(codes[0])
  const browser = newBrowser(server)
  const signIn = (code: string) => browser.post('sign-in', { email: person.email, password, code })
  expect((await signIn(codes[0].toUpperCase().replaceAll('-', ' '))).status).toBe(200)
  expect((await browser.get('account')).json.backup_codes_left).toBe(9)
  expect(outcome(await signIn(codes[0]))).toBe('401 sign_in_failed code_wrong')
  server.clock.forward(minuteMs)
  const renewed = (await first.post('account/backup-codes')).json.codes
  expect(outcome(await signIn(codes[1]))).toBe('401 sign_in_failed code_wrong')
  server.clock.forward(minuteMs)
  expect((await signIn(renewed[9])).status).toBe(200)
})

test('operators need a factor beside the password, except on the machine itself', async () => {
  const operatorIn = async (instance: TestHttpServer, ip: string | null) => {
    const { id, email } = await newPersonWithPassword(instance)
    const { db } = instance.database
    await db.insertInto('operators').values({ user_id: id, created_at: instance.clock.now() }).execute()
    return (await newBrowser(instance, ip).post('sign-in', { email, password })).json
  }
  expect(await operatorIn(server, '192.0.2.8')).toMatchObject({
    is_operator: true,
    needs_factor: true,
    is_localhost: false,
  })
  const trial = await openPeopleServer({ publicUrl: null })
  try {
    expect(await operatorIn(trial, null)).toMatchObject({ is_operator: true, needs_factor: false, is_localhost: true })
    expect(await operatorIn(trial, '192.0.2.8')).toMatchObject({ needs_factor: true, is_localhost: false })
  } finally {
    await trial.close()
  }
})
