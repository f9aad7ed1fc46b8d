import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createInvitation } from '../../../src/accounts/invitations/invitations.ts'
import { addMember } from '../../../src/accounts/members/members.ts'
import { createLoginLink } from '../../../src/accounts/sessions/login-links.ts'
import { addOperator } from '../../../src/accounts/users/operators.ts'
import { dayMs } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import type { TestHttpServer } from '../../harness/http-server.ts'
import { newBrandOf } from '../people.ts'
import {
  auditOf,
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

let count = 0

async function newMember(email = `member-${++count}@people.test`) {
  const { database, clock, organizationId } = server
  const member = { organizationId, email, name: 'Mia', access: { role: 'owner' } } as const
  const { id } = await addMember(database.db, member, clock)
  return { id, email }
}

const linkFor = async (memberId: Id<'mem'>) =>
  (await createLoginLink(server.database.db, { memberId }, server.clock)).token

const userOf = async (memberId: Id<'mem'>) =>
  (
    await server.database.db
      .selectFrom('members')
      .select('user_id')
      .where('id', '=', memberId)
      .executeTakeFirstOrThrow()
  ).user_id

test('a link makes an account for its member, and signs in once', async () => {
  const member = await newMember()
  const token = await linkFor(member.id)
  const another = await linkFor(member.id)
  const browser = newBrowser(server)
  const look = await browser.post('welcome/look', { token })
  expect([look.status, look.json]).toEqual([
    200,
    {
      email: member.email,
      name: 'Mia',
      organization: { name: 'Test' },
      has_account: false,
      must_sign_in: false,
      expires_at: expect.any(String),
    },
  ])
  const welcomed = await browser.post('welcome', { token, name: 'Mia Moss' })
  expect(welcomed.json).toMatchObject({
    user: { email: member.email, name: 'Mia Moss' },
    needs_factor: true,
    is_confirmed: true,
    organizations: [{ id: server.organizationId, role: 'owner', member_id: member.id }],
  })
  expect(await userOf(member.id)).toBe(welcomed.json.user.id)
  const { name } = await server.database.db
    .selectFrom('members')
    .select('name')
    .where('id', '=', member.id as Id<'mem'>)
    .executeTakeFirstOrThrow()
  expect(name).toBe('Mia Moss')
  expect((await browser.get('session')).json).toEqual(welcomed.json)
  for (const used of [token, another])
    expect(outcome(await newBrowser(server).post('welcome', { token: used }))).toBe('409 link_closed was used')
  expect(outcome(await newBrowser(server).post('welcome/look', { token }))).toBe('409 link_closed was used')
  expect(await auditOf(server, welcomed.json.user.id)).toEqual([`account.sign_in by ${member.email} from an address`])
})

test('of many who take a link at once one is signed in', async () => {
  const token = await linkFor((await newMember()).id)
  const answers = await Promise.all(Array.from({ length: 6 }, () => newBrowser(server).post('welcome', { token })))
  expect(answers.map(outcome).sort()).toEqual(['200', ...Array(5).fill('409 link_closed was used')])
})

test('a link expires after a day, and one that was never made is not known', async () => {
  const token = await linkFor((await newMember()).id)
  server.clock.forward(dayMs)
  expect(outcome(await newBrowser(server).post('welcome', { token }))).toBe('409 link_closed has expired')
  expect(outcome(await newBrowser(server).post('welcome', { token: 'A'.repeat(43) }))).toBe('404 not_found')
  expect(outcome(await newBrowser(server).post('welcome/look', { token: 'A'.repeat(43) }))).toBe('404 not_found')
})

test('whoever lost every factor comes back with a link, to the same account', async () => {
  const member = await newMember()
  const first = newBrowser(server)
  const { user } = (await first.post('welcome', { token: await linkFor(member.id) })).json
  const again = await newBrowser(server).post('welcome', { token: await linkFor(member.id), name: 'Another Name' })
  expect(again.json).toMatchObject({ user: { id: user.id, name: user.name }, is_confirmed: true })
})

test('a member is joined with the account of the same email only by who is signed in to it', async () => {
  const person = await newPersonWithPassword(server)
  const member = await newMember(person.email)
  const token = await linkFor(member.id)
  const stranger = newBrowser(server)
  expect((await stranger.post('welcome/look', { token })).json).toMatchObject({ has_account: true, must_sign_in: true })
  expect(outcome(await stranger.post('welcome', { token }))).toBe('409 account_exists')
  const other = await signedInBrowser(server, await newPersonWithPassword(server))
  expect(outcome(await other.post('welcome', { token }))).toBe('409 account_exists')
  expect(await userOf(member.id)).toBeNull()
  const own = await signedInBrowser(server, person)
  const joined = await own.post('welcome', { token })
  expect(joined.json).toMatchObject({ user: { id: person.id }, organizations: [{ member_id: member.id }] })
  expect(await userOf(member.id)).toBe(person.id)
})

test('an operator without an account gets one with their link', async () => {
  const { link, userId } = await addOperator(server.database.db, 'olga@people.test', server.clock)
  const browser = newBrowser(server)
  const look = await browser.post('welcome/look', { token: link?.token })
  expect(look.json).toMatchObject({ email: 'olga@people.test', organization: null, has_account: false })
  const welcomed = await browser.post('welcome', { token: link?.token ?? '', name: 'Olga' })
  expect(welcomed.json).toMatchObject({
    user: { id: userId, name: 'Olga' },
    is_operator: true,
    needs_factor: true,
    organizations: [],
  })
})

async function invite(email?: string): Promise<string> {
  const { database, clock, organizationId } = server
  const { db } = database
  const deps = { db, clock, publicUrl: 'https://mail.example' }
  const brand_ids = [await newBrandOf(db, organizationId, clock)]
  const inviter = { organizationId, memberId: null }
  const { link } = await createInvitation(deps, inviter, {
    brand_ids,
    permissions: ['inbox:read'],
    ...(email && { email }),
  })
  return link.slice(link.lastIndexOf('/') + 1)
}

test('a new person joins by an invitation, as the address that it is for', async () => {
  const token = await invite('ina@people.test')
  const browser = newBrowser(server)
  expect((await browser.post('invitations/look', { token })).json).toMatchObject({
    organization: { name: 'Test' },
    email: 'ina@people.test',
    permissions: ['inbox:read'],
    has_account: false,
  })
  const other = await browser.post('invitations/join', { token, email: 'other@people.test', name: 'Ina' })
  expect(outcome(other)).toBe('400 invalid_request')
  const joined = await browser.post('invitations/join', { token, name: 'Ina' })
  expect(joined.json).toMatchObject({
    user: { email: 'ina@people.test', name: 'Ina' },
    needs_factor: false,
    organizations: [{ id: server.organizationId, role: 'member', permissions: ['inbox:read'], has_api_access: false }],
  })
  expect(joined.json.organizations[0].brands).toHaveLength(1)
  expect((await browser.get('session')).json).toEqual(joined.json)
  expect(outcome(await newBrowser(server).post('invitations/join', { token, name: 'Ina' }))).toBe(
    '409 invitation_closed was accepted',
  )
})

test('whoever has an account accepts with it, and nobody joins as them', async () => {
  const person = await newPersonWithPassword(server)
  const token = await invite(person.email)
  const stranger = newBrowser(server)
  expect((await stranger.post('invitations/look', { token })).json.has_account).toBe(true)
  expect(outcome(await stranger.post('invitations/join', { token, name: 'Eve' }))).toBe('409 account_exists')
  const open = await invite()
  const taken = { token: open, email: person.email, name: 'Eve' }
  expect(outcome(await stranger.post('invitations/join', taken))).toBe('409 account_exists')
  expect(outcome(await stranger.post('invitations/accept', { token }))).toBe('401 session_required')

  const other = await signedInBrowser(server, await newPersonWithPassword(server))
  expect(outcome(await other.post('invitations/accept', { token }))).toBe('400 invalid_request')
  const own = await signedInBrowser(server, person)
  const accepted = await own.post('invitations/accept', { token })
  expect(accepted.json).toMatchObject({ user: { id: person.id }, organizations: [{ id: server.organizationId }] })
  expect(outcome(await own.post('invitations/accept', { token: open }))).toBe('400 invalid_request')
  expect(outcome(await own.post('invitations/accept', { token }))).toBe('409 invitation_closed was accepted')
  expect((await other.post('invitations/accept', { token: open })).status).toBe(200)
})

test('of two people who join with one email at once one gets the account', async () => {
  const tokens = [await invite(), await invite()]
  const answers = await Promise.all(
    tokens.map(token =>
      newBrowser(server).post('invitations/join', { token, email: 'twin@people.test', name: 'Twin' }),
    ),
  )
  expect(answers.map(outcome).sort()).toEqual(['200', '409 account_exists'])
})

test('a removed member is out at the next request, and their other organizations stay', async () => {
  const member = await newMember()
  const browser = newBrowser(server)
  await browser.post('welcome', { token: await linkFor(member.id) })
  await server.database.db.deleteFrom('members').where('id', '=', member.id).execute()
  expect((await browser.get('session')).json).toMatchObject({ organizations: [], needs_factor: false })
  expect(outcome(await newBrowser(server).post('sign-in', { email: member.email, password }))).toBe(
    '401 sign_in_failed',
  )
})
