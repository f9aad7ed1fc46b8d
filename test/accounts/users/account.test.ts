import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hourMs, minuteMs } from '../../../src/base/clock.ts'
import type { TestHttpServer } from '../../harness/http-server.ts'
import { joinAs } from '../people.ts'
import {
  addAuthenticatorIn,
  auditOf,
  authenticatorCode,
  type Browser,
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

async function signedIn() {
  const person = await newPersonWithPassword(server)
  return { person, browser: await signedInBrowser(server, person) }
}

const sessionCookie = (browser: Browser) => browser.cookies.get('__Host-mailroom') ?? ''

test('the account shows factors and sessions, and the name changes everywhere', async () => {
  const { person, browser } = await signedIn()
  const member = await joinAs(server.database.db, person, server.organizationId, { role: 'admin' }, server.clock)
  const { json } = await browser.get('account')
  expect(json).toEqual({
    email: person.email,
    name: person.name,
    has_password: true,
    has_authenticator: false,
    backup_codes_left: 0,
    passkeys: [],
    sessions: [
      {
        id: expect.stringMatching(/^ses_/),
        is_current: true,
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        expires_at: expect.any(String),
        ip: expect.stringMatching(/^198\.51\./),
        user_agent: 'Browser/1.0',
      },
    ],
  })
  expect((await browser.call('PATCH', 'account', { name: 'New Name' })).json.name).toBe('New Name')
  expect((await browser.get('session')).json.user.name).toBe('New Name')
  const row = await server.database.db.selectFrom('members').select('name').where('id', '=', member).executeTakeFirst()
  expect(row?.name).toBe('New Name')
  const audit = await auditOf(server, person.id)
  expect((await browser.call('PATCH', 'account', { name: 'New Name' })).json.name).toBe('New Name')
  expect(await auditOf(server, person.id)).toEqual(audit)
})

test('a change of a factor wants a confirmation, gives the session a new token and is recorded', async () => {
  const { person, browser } = await signedIn()
  server.clock.forward(11 * minuteMs)
  const next = { password: 'another green kettle sings' }
  expect(outcome(await browser.post('account/password', next))).toBe('403 confirmation_required')
  expect(outcome(await browser.post('account/backup-codes'))).toBe('403 confirmation_required')
  expect(outcome(await browser.post('account/passkeys/options'))).toBe('403 confirmation_required')

  const before = sessionCookie(browser)
  expect((await browser.post('confirm', { password })).json.is_confirmed).toBe(true)
  const confirmed = sessionCookie(browser)
  expect(confirmed).not.toBe(before)
  expect((await browser.post('account/password', next)).status).toBe(200)
  expect(sessionCookie(browser)).not.toBe(confirmed)
  for (const old of [before, confirmed]) {
    const thief = newBrowser(server)
    thief.cookies.set('__Host-mailroom', old)
    expect(outcome(await thief.get('session'))).toBe('401 session_required')
  }
  expect((await browser.get('session')).status).toBe(200)
  expect((await newBrowser(server).post('sign-in', { email: person.email, ...next })).status).toBe(200)
  const by = `by ${person.email} from an address`
  const actions = ['account.sign_in', 'account.confirm', 'account.set_password', 'account.sign_in']
  expect(await auditOf(server, person.id)).toEqual(actions.map(action => `${action} ${by}`))
})

test.each([
  ['short', 'Sh0rt!pass'],
  ['on the list', 'motherfucker'],
  ['a row of keys', 'qwertyuiop123'],
  ['repeated', 'passwordpassword'],
  ['a sequence', '1234567890123'],
  ['the email', 'EMAIL'],
])('a password that is %s is refused', async (_, weak) => {
  const { person, browser } = await signedIn()
  const refused = await browser.post('account/password', { password: weak === 'EMAIL' ? person.email : weak })
  expect(outcome(refused)).toBe('400 invalid_request weak_password')
})

test('an authenticator is added with a code of it, and its secret is encrypted', async () => {
  const { person, browser } = await signedIn()
  const { secret, uri } = (await browser.post('account/authenticator/begin')).json
  expect(uri).toContain(encodeURIComponent(person.email))
  expect(uri).toContain('mail.example')
  expect(outcome(await browser.post('account/authenticator', { secret, code: '000000' }))).toBe('400 invalid_request')
  const code = await authenticatorCode(server, secret)
  const added = await browser.post('account/authenticator', { secret, code: `${code.slice(0, 3)} ${code.slice(3)}` })
  expect(added.json.has_authenticator).toBe(true)
  const row = await server.database.db.selectFrom('users').selectAll().where('id', '=', person.id).executeTakeFirst()
  expect(JSON.stringify(row)).not.toContain(secret)
  expect(outcome(await newBrowser(server).post('sign-in', { email: person.email, password, code }))).toBe(
    '401 sign_in_failed code_wrong',
  )
})

test('with an authenticator its code confirms, not the password alone', async () => {
  const { browser } = await signedIn()
  const secret = await addAuthenticatorIn(server, browser)
  server.clock.forward(11 * minuteMs)
  expect(outcome(await browser.post('confirm', { password }))).toBe('401 sign_in_failed code_required')
  const code = await authenticatorCode(server, secret)
  expect((await browser.post('confirm', { code })).json.is_confirmed).toBe(true)
  expect(outcome(await browser.post('confirm', { code }))).toBe('401 sign_in_failed not_confirmed')
})

test('the last factor of an owner cannot be removed', async () => {
  const { person, browser } = await signedIn()
  await addAuthenticatorIn(server, browser)
  const member = await joinAs(server.database.db, person, server.organizationId, { role: 'owner' }, server.clock)
  expect(outcome(await browser.call('DELETE', 'account/authenticator'))).toBe('409 last_factor')
  expect((await browser.get('account')).json.has_authenticator).toBe(true)
  await server.database.db.deleteFrom('members').where('id', '=', member).execute()
  expect((await browser.call('DELETE', 'account/authenticator')).json.has_authenticator).toBe(false)
})

test('backup codes go beside a password, and end with the last factor', async () => {
  const { person, browser } = await signedIn()
  await addAuthenticatorIn(server, browser)
  await browser.post('account/backup-codes')
  expect((await browser.get('account')).json.backup_codes_left).toBe(10)
  expect((await browser.call('DELETE', 'account/authenticator')).json.backup_codes_left).toBe(0)
  await server.database.db.updateTable('users').set({ password_hash: null }).where('id', '=', person.id).execute()
  expect(outcome(await browser.post('account/backup-codes'))).toBe('403 factor_required')
})

test('whoever a link signed in sets their first password without a confirmation, and the next one with it', async () => {
  const { person, browser } = await signedIn()
  await server.database.db.updateTable('users').set({ password_hash: null }).where('id', '=', person.id).execute()
  server.clock.forward(hourMs)
  expect((await browser.post('account/password', { password })).status).toBe(200)
  expect(outcome(await browser.post('account/password', { password: `${password} more` }))).toBe(
    '403 confirmation_required',
  )
})

test('sessions are ended by the person, one or all others, from their next request on', async () => {
  const { person, browser } = await signedIn()
  const others = [await signedInBrowser(server, person), await signedInBrowser(server, person)] as const
  const { sessions } = (await browser.get('account')).json
  expect(sessions).toHaveLength(3)
  const [newest] = sessions
  expect((await browser.call('DELETE', `account/sessions/${newest.id}`)).json).toEqual({ id: newest.id, ended: true })
  expect(outcome(await others[1].get('session'))).toBe('401 session_required')
  expect(outcome(await browser.call('DELETE', `account/sessions/${newest.id}`))).toBe('404 not_found')
  expect((await browser.post('account/sessions/end-others')).json).toEqual({ ended: 1 })
  expect(outcome(await others[0].get('session'))).toBe('401 session_required')

  const stranger = await signedIn()
  const own = (await browser.get('account')).json.sessions[0]
  expect(outcome(await stranger.browser.call('DELETE', `account/sessions/${own.id}`))).toBe('404 not_found')
  expect((await browser.call('DELETE', `account/sessions/${own.id}`)).status).toBe(200)
  expect(browser.cookies.has('__Host-mailroom')).toBe(false)
})
