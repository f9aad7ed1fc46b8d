import { afterAll, beforeAll, expect, test } from 'bun:test'
import { minuteMs } from '../../../src/base/clock.ts'
import type { TestHttpServer } from '../../harness/http-server.ts'
import {
  auditOf,
  type Browser,
  newBrowser,
  newPersonWithPassword,
  openPeopleServer,
  origin,
  outcome,
  password,
  signedInBrowser,
} from '../sign-in-browser.ts'
import { newSoftwarePasskey, type SoftwarePasskey } from '../software-passkey.ts'

let server: TestHttpServer

beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server.close())

async function addPasskey(browser: Browser, passkey: SoftwarePasskey, name = 'Laptop') {
  const options = (await browser.post('account/passkeys/options')).json
  return browser.post('account/passkeys', { name, response: passkey.create(options) })
}

/** A person with a passkey, and a browser in which they are signed in. */
async function newPersonWithPasskey() {
  const person = await newPersonWithPassword(server)
  const browser = await signedInBrowser(server, person)
  const passkey = newSoftwarePasskey(origin)
  const added = await addPasskey(browser, passkey)
  return { person, browser, passkey, added }
}

const signInOptions = async (browser: Browser) => (await browser.post('sign-in/passkey/options')).json
const failed = '401 sign_in_failed'

test('a passkey is added, signs in without a name, and counts its uses', async () => {
  const { person, passkey, added } = await newPersonWithPasskey()
  expect(added.json.passkeys).toEqual([
    {
      id: expect.stringMatching(/^pky_/),
      name: 'Laptop',
      host: 'mail.example',
      created_at: expect.any(String),
      last_used_at: null,
    },
  ])
  const browser = newBrowser(server)
  const options = await signInOptions(browser)
  expect(options).toMatchObject({ rpId: 'mail.example', userVerification: 'required' })
  expect(options.allowCredentials).toBeUndefined()
  const signedIn = await browser.post('sign-in/passkey', { response: passkey.get(options) })
  expect(signedIn.json).toMatchObject({ user: { id: person.id }, is_confirmed: true })
  expect((await browser.get('account')).json.passkeys[0].last_used_at).not.toBeNull()
  const row = await server.database.db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', person.id)
    .executeTakeFirst()
  expect([row?.sign_count, row?.transports]).toEqual([2, 'usb'])
  expect((await auditOf(server, person.id)).map(entry => entry.split(' ')[0])).toEqual([
    'account.sign_in',
    'account.add_passkey',
    'account.sign_in',
  ])
})

test('an answer is good once, for five minutes, for its page, and only with the finger or PIN', async () => {
  const { passkey } = await newPersonWithPasskey()
  const browser = newBrowser(server)
  const present = async (deviation: Parameters<SoftwarePasskey['get']>[1], options?: { challenge: string }) => {
    const response = passkey.get(options ?? (await signInOptions(browser)), deviation)
    return { response, outcome: outcome(await browser.post('sign-in/passkey', { response })) }
  }
  const good = await present({})
  expect(good.outcome).toBe('200')
  expect(outcome(await browser.post('sign-in/passkey', { response: good.response }))).toBe(failed)
  expect((await present({ signCount: 1 })).outcome).toBe(failed)
  expect((await present({ origin: 'https://mail.example.evil' })).outcome).toBe(failed)
  expect((await present({ rpId: 'evil.example' })).outcome).toBe(failed)
  expect((await present({ isUserVerified: false })).outcome).toBe(failed)
  expect((await present({ isForged: true })).outcome).toBe(failed)
  const made = Buffer.from(good.response ? (await signInOptions(browser)).challenge : '', 'base64url')
  made[3] = (made[3] ?? 0) ^ 1
  expect((await present({}, { challenge: made.toString('base64url') })).outcome).toBe(failed)
  const late = await signInOptions(browser)
  server.clock.forward(5 * minuteMs)
  expect((await present({}, late)).outcome).toBe(failed)
  expect((await present({})).outcome).toBe('200')
})

test('of many who send the same answer at once one is signed in', async () => {
  const { passkey } = await newPersonWithPasskey()
  const response = passkey.get(await signInOptions(newBrowser(server)))
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => newBrowser(server).post('sign-in/passkey', { response })),
  )
  expect(answers.map(outcome).sort()).toEqual(['200', ...Array(5).fill(failed)])
})

test('a passkey that is not known here signs nobody in', async () => {
  const browser = newBrowser(server)
  const response = newSoftwarePasskey(origin).get(await signInOptions(browser))
  expect(outcome(await browser.post('sign-in/passkey', { response }))).toBe(failed)
})

test('only a passkey of the person confirms, with a challenge of their session', async () => {
  const { browser, passkey } = await newPersonWithPasskey()
  const other = await newPersonWithPasskey()
  server.clock.forward(11 * minuteMs)
  const confirmOptions = async (by: Browser) => (await by.post('confirm/passkey/options')).json
  const confirm = (response: object) => browser.post('confirm/passkey', { response })
  const notConfirmed = '401 sign_in_failed not_confirmed'
  expect(outcome(await confirm(other.passkey.get(await confirmOptions(browser))))).toBe(notConfirmed)
  expect(outcome(await confirm(passkey.get(await confirmOptions(other.browser))))).toBe(notConfirmed)
  expect(outcome(await confirm(passkey.get(await signInOptions(browser))))).toBe(notConfirmed)
  const confirmation = passkey.get(await confirmOptions(browser))
  expect(outcome(await newBrowser(server).post('sign-in/passkey', { response: confirmation }))).toBe(failed)
  expect((await confirm(passkey.get(await confirmOptions(browser)))).json.is_confirmed).toBe(true)
})

test('a passkey is made on this page, in this session, once', async () => {
  const { browser, passkey } = await newPersonWithPasskey()
  const other = await newPersonWithPasskey()
  const options = async (by: Browser) => (await by.post('account/passkeys/options')).json
  const add = (response: object) => browser.post('account/passkeys', { name: 'Other', response })
  const refused = '400 invalid_request'
  const fresh = () => newSoftwarePasskey(origin)
  expect((await options(browser)).excludeCredentials).toEqual([
    { id: passkey.id, type: 'public-key', transports: ['usb'] },
  ])
  expect(outcome(await add(fresh().create(await options(other.browser))))).toBe(refused)
  expect(outcome(await add(fresh().create(await options(browser), { origin: 'https://evil.example' })))).toBe(refused)
  expect(outcome(await add(fresh().create(await options(browser), { isUserVerified: false })))).toBe(refused)
  expect(outcome(await add(passkey.create(await options(browser))))).toBe(refused)
  const created = fresh().create(await options(browser))
  expect((await add(created)).status).toBe(200)
  expect(outcome(await add(created))).toBe(refused)
  expect((await browser.get('account')).json.passkeys).toHaveLength(2)
})

test('with a passkey the password alone signs in nowhere but on the machine itself', async () => {
  const { person, browser } = await newPersonWithPasskey()
  const signIn = (code?: string) =>
    newBrowser(server).post('sign-in', { email: person.email, password, ...(code && { code }) })
  expect(outcome(await signIn())).toBe('401 sign_in_failed code_required')
  const { codes } = (await browser.post('account/backup-codes')).json
  expect((await signIn(codes[0])).status).toBe(200)
  const [{ id }] = (await browser.get('account')).json.passkeys
  expect((await browser.call('DELETE', `account/passkeys/${id}`)).json).toMatchObject({
    passkeys: [],
    backup_codes_left: 0,
  })
  expect((await signIn()).status).toBe(200)
})

test('the only way to sign in cannot be removed, and a removed passkey signs nobody in', async () => {
  const { person, browser, passkey } = await newPersonWithPasskey()
  const { db } = server.database
  await db.updateTable('users').set({ password_hash: null }).where('id', '=', person.id).execute()
  const [{ id }] = (await browser.get('account')).json.passkeys
  expect(outcome(await browser.call('DELETE', `account/passkeys/${id}`))).toBe('409 last_factor')
  await addPasskey(browser, newSoftwarePasskey(origin), 'Phone')
  expect((await browser.call('DELETE', `account/passkeys/${id}`)).status).toBe(200)
  const visitor = newBrowser(server)
  const response = passkey.get(await signInOptions(visitor))
  expect(outcome(await visitor.post('sign-in/passkey', { response }))).toBe(failed)
  const other = await newPersonWithPasskey()
  const own = (await browser.get('account')).json.passkeys[0].id
  expect(outcome(await other.browser.call('DELETE', `account/passkeys/${own}`))).toBe('404 not_found')
})

test('guesses at the password do not make whoever has a passkey wait', async () => {
  const { person, passkey } = await newPersonWithPasskey()
  for (let i = 0; i < 3; i++)
    await newBrowser(server).post('sign-in', { email: person.email, password: 'a guess at the password' })
  expect(outcome(await newBrowser(server).post('sign-in', { email: person.email, password }))).toBe(
    '429 too_many_attempts',
  )
  const browser = newBrowser(server)
  const response = passkey.get(await signInOptions(browser))
  expect((await browser.post('sign-in/passkey', { response })).status).toBe(200)
})
