import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSessionAuthenticator } from '../../src/accounts/sessions/authenticate.ts'
import { hourMs, plusMs, systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { UsageError } from '../../src/base/operator-error.ts'
import { hashToken } from '../../src/base/secrets/token.ts'
import { auditCommand } from '../../src/cli/audit.ts'
import type { Command } from '../../src/cli/command.ts'
import { memberCommand } from '../../src/cli/member.ts'
import { operatorCommand } from '../../src/cli/operator.ts'
import { orgCommand } from '../../src/cli/org.ts'
import { sessionCommand } from '../../src/cli/session.ts'
import { newUser, signIn } from '../accounts/people.ts'
import { outputOf } from '../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase(4)
})
afterAll(() => database.close())

const publicUrl = { MAILROOM_PUBLIC_URL: 'https://mail.example.com/' }

function run(command: Command, args: readonly string[], settings: Readonly<Record<string, string>> = publicUrl) {
  return outputOf(command, args, { MAILROOM_DATABASE_URL: database.url, ...settings })
}

const json = async (command: Command, ...args: string[]) => (await run(command, args)).json

/** The stored link that a printed one leads to. */
async function storedLink(url: string) {
  const [, token = ''] = /^https:\/\/mail\.example\.com\/app\/welcome#([\w-]{43})$/.exec(url) ?? []
  const [row] = await database.db
    .selectFrom('login_links')
    .selectAll()
    .where('token_hash', '=', hashToken(token))
    .execute()
  return row
}

test('creates an organization with its first owner, and prints one link that is theirs', async () => {
  const made = await json(orgCommand, 'create', 'Meadow', '--owner', 'Ann@Meadow.test')
  expect(made).toEqual({
    ...{ id: expect.stringMatching(/^org_/), name: 'Meadow', plan: 'unlimited' },
    owner: {
      ...{ id: expect.stringMatching(/^mem_/), email: 'ann@meadow.test' },
      ...{ link: expect.any(String), link_expires_at: expect.any(String) },
    },
  })
  const stored = await storedLink(made.owner.link)
  expect(stored).toMatchObject({ member_id: made.owner.id, user_id: null, used_at: null })
  const hoursLeft = (Date.parse(made.owner.link_expires_at) - Date.now()) / hourMs
  expect(hoursLeft).toBeGreaterThan(23)
  expect(hoursLeft).toBeLessThanOrEqual(24)
  expect(await json(memberCommand, 'list', '--org', made.id)).toEqual([
    expect.objectContaining({ id: made.owner.id, role: 'owner', email: 'ann@meadow.test', name: 'ann' }),
  ])
  const audit = await json(auditCommand, 'list', '--org', made.id)
  expect(audit.map((entry: { action: string }) => entry.action)).toEqual(['member.link', 'member.add', 'org.create'])
  expect(JSON.stringify(audit)).not.toContain(made.owner.link.slice(-43))
})

test('prints the key of a new organization and the link of its owner, or how to make a key', async () => {
  const { text } = await run(orgCommand, ['create', 'Glade', '--owner', 'ann@glade.test', '--with-key'])
  expect(text).toMatch(
    /\nmrk_\S+\nThis link signs ann@glade\.test in, once, until \d{4}-\d\d-\d\d \d\d:\d\d UTC:\nhttps:/,
  )
  expect((await run(orgCommand, ['create', 'Brook'])).text).toContain('./mailroom key create --org org_')
})

test('an owner can be made of an organization that exists, who also operates the instance, as often as one likes', async () => {
  const { id } = await json(orgCommand, 'create', 'Marsh')
  const first = await json(orgCommand, 'owner', id, 'Eve@Marsh.test', '--operator')
  const second = await json(orgCommand, 'owner', id, 'eve@marsh.test', '--operator')
  expect(second).toMatchObject({ id: first.id, email: 'eve@marsh.test' })
  expect(await storedLink(second.link)).toMatchObject({ member_id: first.id, used_at: null })
  const operator = (await json(operatorCommand, 'list')).find(({ email }: { email: string }) => email === first.email)
  const member = await database.db
    .selectFrom('members')
    .select(['role', 'user_id'])
    .where('id', '=', first.id)
    .executeTakeFirst()
  expect(member).toEqual({ role: 'owner', user_id: operator.id })
  const audit = await json(auditCommand, 'list', '--org', id)
  const actions = audit.map((entry: { action: string }) => entry.action)
  expect(actions).toEqual(['member.link', 'member.link', 'operator.add', 'member.add', 'org.create'])

  await signIn(database.db, operator.id, systemClock)
  const last = await run(orgCommand, ['owner', id, 'eve@marsh.test'])
  expect(last.json).toEqual({ id: first.id, email: 'eve@marsh.test', link: null, link_expires_at: null })
  expect(last.text).toBe('eve@marsh.test is an owner, and has signed in already.')
})

test('an account that somebody uses is not joined with an owner by its email alone', async () => {
  const { id } = await json(orgCommand, 'create', 'Fen')
  const known = await newUser(database.db, systemClock)
  await signIn(database.db, known.id, systemClock)
  const owner = await json(orgCommand, 'owner', id, known.email, '--operator')
  expect(await storedLink(owner.link)).toMatchObject({ member_id: owner.id })
  const members = await database.db.selectFrom('members').select('user_id').where('id', '=', owner.id).execute()
  expect(members).toEqual([{ user_id: null }])
})

test('an admin does not become an owner with a link', async () => {
  const { id } = await json(orgCommand, 'create', 'Moor')
  const admin = ['--email', 'ada@moor.test', '--name', 'Ada', '--role', 'admin']
  const { id: memberId } = await json(memberCommand, 'add', '--org', id, ...admin)
  await expect(run(orgCommand, ['owner', id, 'ada@moor.test'])).rejects.toThrow(
    `ada@moor.test is a member with the role admin already. To make them an owner: ./mailroom member role ${memberId} owner`,
  )
  await expect(run(orgCommand, ['create', 'Other', '--operator'])).rejects.toThrow('--operator needs --owner')
})

test('an organization is not created without its owner', async () => {
  const before = await json(orgCommand, 'list')
  await expect(run(orgCommand, ['create', 'Pond', '--owner', 'ann'])).rejects.toThrow(UsageError)
  expect(await json(orgCommand, 'list')).toEqual(before)
})

test('without a public URL a link leads to localhost, where passkeys work', async () => {
  const args = ['create', 'Local', '--owner', 'ann@local.test']
  expect((await run(orgCommand, args, {})).json.owner.link).toStartWith('http://localhost:8080/app/welcome#')
  const listen = { MAILROOM_HTTP_LISTEN: '[::]:9999' }
  expect((await run(orgCommand, args, listen)).json.owner.link).toStartWith('http://localhost:9999/app/welcome#')
})

test('makes another link for a member, with an audit entry', async () => {
  const { id: org, owner } = await json(orgCommand, 'create', 'Heath', '--owner', 'ann@heath.test')
  const made = await json(memberCommand, 'link', owner.id)
  expect(made).toMatchObject({ id: owner.id, email: 'ann@heath.test' })
  expect(made.link).not.toBe(owner.link)
  expect(await storedLink(made.link)).toMatchObject({ member_id: owner.id, used_at: null })
  expect(await json(auditCommand, 'list', '--action', 'member.link', '--limit', '1')).toEqual([
    expect.objectContaining({ subject: owner.id, organization_id: org, ip: null, detail: { email: 'ann@heath.test' } }),
  ])
  const unknown = 'mem_00000000000000000000000000'
  await expect(run(memberCommand, ['link', unknown])).rejects.toThrow(`There is no member ${unknown}.`)
})

test('adds, lists and removes operators, and prints a link for one who never signed in', async () => {
  const added = await json(operatorCommand, 'add', 'Ops@Example.com')
  expect(await storedLink(added.link)).toMatchObject({ user_id: added.id, member_id: null })
  const { text } = await run(operatorCommand, ['add', 'ops@example.com'])
  expect(text).toContain('was an operator already. This link signs ops@example.com in, once,')

  const known = await newUser(database.db, systemClock)
  await signIn(database.db, known.id, systemClock)
  const again = await run(operatorCommand, ['add', known.email])
  expect(again.json).toEqual({ id: known.id, email: known.email, name: known.name, link: null, link_expires_at: null })
  expect(again.text).toContain(`This is the account of ${known.name}, created `)

  const isOurs = ({ email }: { email: string }) => [known.email, 'ops@example.com'].includes(email)
  expect((await json(operatorCommand, 'list')).filter(isOurs)).toEqual([
    expect.objectContaining({ email: 'ops@example.com', last_sign_in_at: null }),
    expect.objectContaining({ id: known.id, email: known.email, last_sign_in_at: expect.any(String) }),
  ])
  expect(await json(operatorCommand, 'remove', known.email)).toEqual({
    id: known.id,
    email: known.email,
    removed: true,
  })
  await expect(run(operatorCommand, ['remove', known.email])).rejects.toThrow(`${known.email} is not an operator.`)
  expect((await json(operatorCommand, 'list')).filter(isOurs)).toHaveLength(1)
  expect(await json(auditCommand, 'list', '--subject', known.id)).toEqual([
    expect.objectContaining({ action: 'operator.remove', detail: { email: known.email } }),
    expect.objectContaining({ action: 'operator.add', detail: { email: known.email } }),
  ])
})

test('lists sessions that last, and ends one, those of a person, or all', async () => {
  const { db } = database
  await json(sessionCommand, 'end', '--all')
  expect((await run(sessionCommand, ['list'])).text).toBe('Nobody is signed in.')
  const [ann, bea] = [await newUser(db, systemClock), await newUser(db, systemClock)]
  const sessions = [await signIn(db, ann.id, systemClock), await signIn(db, ann.id, systemClock)]
  const ofBea = await signIn(db, bea.id, systemClock)
  const unused = await signIn(db, bea.id, systemClock)
  await db
    .updateTable('sessions')
    .set({ last_used_at: plusMs(systemClock.now(), -13 * hourMs) })
    .where('id', '=', unused.id)
    .execute()
  const idsOf = async (...args: string[]) =>
    (await json(sessionCommand, 'list', ...args)).map((session: { id: Id<'ses'> }) => session.id)
  expect(await idsOf()).toEqual([ofBea.id, ...sessions.map(session => session.id).reverse()])
  expect((await run(sessionCommand, ['list', '--email', bea.email])).text).toMatch(
    /^ses_\w+ {2}user-\d+@people\.test {2}192\.0\.2\.7 {2}last used \S+Z\n {2}Test\/1\.0$/,
  )

  const authenticator = openSessionAuthenticator(db, systemClock)
  const isSignedIn = async ({ cookie }: { cookie: string }) =>
    (await authenticator.authenticate(cookie, { isLocalhost: false })) !== null
  const [first, second] = sessions
  if (!first || !second) throw new Error('there are two sessions')
  expect(await isSignedIn(first)).toBe(true)
  expect(await json(sessionCommand, 'end', first.id)).toEqual({ ended: 1 })
  expect([await isSignedIn(first), await isSignedIn(second), await isSignedIn(ofBea)]).toEqual([false, true, true])
  expect(await json(sessionCommand, 'end', '--email', ann.email)).toEqual({ ended: 1 })
  expect([await isSignedIn(second), await isSignedIn(ofBea)]).toEqual([false, true])
  expect(await json(sessionCommand, 'end', '--all')).toEqual({ ended: 2 })
  expect(await idsOf()).toEqual([])
  await authenticator.close()
  expect(await json(auditCommand, 'list', '--action', 'session.end', '--limit', '2')).toEqual([
    expect.objectContaining({ subject: 'all', detail: { ended: 2 } }),
    expect.objectContaining({ subject: ann.email, detail: { ended: 1 } }),
  ])
})

test.each([
  [['end'], 'give either the ids of sessions, or --email, or --all'],
  [['end', '--all', '--email', 'ann@a.test'], 'give either the ids of sessions, or --email, or --all'],
  [['end', 'ses_1'], '"ses_1" is not the id of a session'],
  [['list', '--email', 'ann'], '"ann" is not an address such as name@example.com'],
])('says what is wrong with session %p', async (args, sentence) => {
  await expect(run(sessionCommand, args)).rejects.toThrow(sentence)
})
