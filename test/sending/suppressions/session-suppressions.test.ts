import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createBrand } from '../../../src/accounts/brands/brands.ts'
import { permissions } from '../../../src/accounts/keys/permissions.ts'
import type { MemberAccess } from '../../../src/accounts/members/members.ts'
import { createOrganization } from '../../../src/accounts/organizations/organizations.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import type { Id } from '../../../src/base/ids.ts'
import { sessionSuppressionRoutes } from '../../../src/sending/suppressions/session-routes.ts'
import { suppress } from '../../../src/sending/suppressions/suppress.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { testClock } from '../../harness/http-server.ts'
import { type MemberCall, newSessionMember, openMemberClient, type TestMember } from '../../harness/member-client.ts'
import type { SessionAnswer } from '../../harness/session.ts'

const clock = testClock()
let database: FreshDatabase
let organizationId: Id<'org'>
let brand: Id<'brd'>
let otherBrand: Id<'brd'>
let owner: TestMember
let member: TestMember
let ask: (method: string, path: string, as: TestMember, call?: MemberCall) => Promise<SessionAnswer>

beforeAll(async () => {
  database = await freshDatabase()
  const deps = { db: database.db, clock }
  organizationId = (await createOrganization(database.db, { name: 'Acme', plan: 'free' }, clock)).id
  brand = (await createBrand(deps, { organizationId }, { name: 'One', slug: 'one' })).id as Id<'brd'>
  otherBrand = (await createBrand(deps, { organizationId }, { name: 'Two', slug: 'two' })).id as Id<'brd'>
  owner = await join({ role: 'owner' })
  member = await join({ role: 'member', brandIds: [brand], permissions })
  ask = openMemberClient(database.db, [sessionSuppressionRoutes(deps)])
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.db.deleteFrom('suppressions').execute()
})

const join = (access: MemberAccess) => newSessionMember(database.db, clock, organizationId, access)
const outcome = ({ status, json }: SessionAnswer) => [status, json?.error?.code, json?.error?.param]
const listed = async () =>
  (await database.db.selectFrom('suppressions').select(['email', 'brand_id']).orderBy('email').execute()).map(
    row => `${row.email} ${row.brand_id === brand ? 'one' : 'two'}`,
  )

const importPiece = (as: TestMember, piece: object) =>
  ask('POST', '/app/api/suppressions/import', as, {
    body: { header: 'email,brand', first_line: 2, dry_run: false, ...piece },
  })

test('a dry run says what an import would do, and the import does it, each bad line with its number in the file', async () => {
  const piece = { lines: 'a@x.test,one\nnot an address,one\n"b@x.test","two"\n', first_line: 501 }
  const expected = {
    added: 2,
    unchanged: 0,
    bad: 1,
    bad_lines: [{ line: 502, reason: '"not an address" is not an email address' }],
  }
  expect((await importPiece(owner, { ...piece, dry_run: true })).json).toEqual(expected)
  expect(await listed()).toEqual([])
  expect((await importPiece(owner, piece)).json).toEqual(expected)
  expect(await listed()).toEqual(['a@x.test one', 'b@x.test two'])
  expect((await importPiece(owner, piece)).json).toMatchObject({ added: 0, unchanged: 2 })
  const [entry] = await database.db
    .selectFrom('audit_log')
    .selectAll()
    .where('action', '=', 'suppressions.import')
    .execute()
  expect(entry).toMatchObject({ actor: owner.session.email, subject: organizationId })
})

test('a member imports into their own brand alone', async () => {
  const { json } = await importPiece(member, { lines: 'a@x.test,one\nb@x.test,two\nc@x.test,\n' })
  expect(json).toMatchObject({ added: 2, bad: 1 })
  expect(await listed()).toEqual(['a@x.test one', 'c@x.test one'])
  expect(outcome(await importPiece(member, { lines: '', brand_id: otherBrand }))).toEqual([
    403,
    'brand_restricted',
    'brand_id',
  ])
  const reader = await join({ role: 'member', brandIds: [brand], permissions: ['suppressions:read'] })
  expect(outcome(await importPiece(reader, { lines: 'd@x.test,\n' }))).toEqual([403, 'insufficient_scope', undefined])
})

test('a file whose first line names no addresses is refused', async () => {
  expect(outcome(await importPiece(owner, { header: 'name,brand', lines: 'a,one\n' }))).toEqual([
    400,
    'invalid_request',
    'header',
  ])
})

test('the export is what the import reads, of the brand that is named, and wants a confirmation', async () => {
  await importPiece(owner, { lines: 'a@x.test,one\nb@x.test,two\n' })
  const file = await ask('GET', '/app/api/suppressions.csv', owner)
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="suppressions.csv"')
  const [header = '', ...lines] = file.text.trimEnd().split('\r\n')
  expect(lines).toHaveLength(2)
  await database.db.deleteFrom('suppressions').execute()
  expect((await importPiece(owner, { header, lines: lines.join('\n') })).json).toMatchObject({ added: 2, bad: 0 })
  const own = await ask('GET', '/app/api/suppressions.csv', member)
  expect([own.text.includes('a@x.test'), own.text.includes('b@x.test')]).toEqual([true, false])
  const narrowed = await ask('GET', '/app/api/suppressions.csv', owner, { brand: otherBrand })
  expect([narrowed.text.includes('a@x.test'), narrowed.text.includes('b@x.test')]).toEqual([false, true])
  expect(outcome(await ask('GET', '/app/api/suppressions.csv', owner, { isConfirmed: false }))).toEqual([
    403,
    'confirmation_required',
    undefined,
  ])
})

async function bounce(email: string, brandId: Id<'brd'>, evidence: string): Promise<void> {
  const suppression = { organizationId, brandId, email, reason: 'hard_bounce', evidence } as const
  await inTransaction(database.db, tx => suppress(tx, suppression, clock.now()))
}

const undo = (as: TestMember, body: object) =>
  ask('POST', '/app/api/suppressions/undo', as, { body: { dry_run: false, ...body } })

test('an incident is undone by the text of the reply, first as a dry run; manual entries stay', async () => {
  await bounce('a@x.test', brand, '550 5.1.1 relay broken')
  await bounce('b@x.test', otherBrand, '550 5.1.1 RELAY broken')
  await bounce('c@x.test', brand, '550 5.1.1 no such user')
  await importPiece(owner, { lines: 'd@x.test,one\n' })
  const dry = (await undo(owner, { reply: 'relay broken', dry_run: true })).json
  expect(dry).toMatchObject({ checked: 4, undone: 2, next_cursor: null })
  expect(dry.examples.map(({ email }: { email: string }) => email)).toEqual(['a@x.test', 'b@x.test'])
  expect((await listed()).length).toBe(4)
  expect((await undo(member, { reply: 'relay broken' })).json.undone).toBe(1)
  expect((await undo(owner, { reply: 'relay broken' })).json.undone).toBe(1)
  expect(await listed()).toEqual(['c@x.test one', 'd@x.test one'])
  const entries = await database.db
    .selectFrom('audit_log')
    .select('actor')
    .where('action', '=', 'suppressions.undo')
    .execute()
  expect(entries.map(({ actor }) => actor)).toEqual([member.session.email, owner.session.email])
})

test('an incident is a text or a window', async () => {
  const from = '2027-01-02T00:00:00Z'
  expect(outcome(await undo(owner, {}))).toEqual([400, 'invalid_request', undefined])
  expect(outcome(await undo(owner, { from }))).toEqual([400, 'invalid_request', undefined])
  expect(outcome(await undo(owner, { from, to: from }))).toEqual([400, 'invalid_request', 'from'])
  expect(outcome(await undo(owner, { reply: 'x', cursor: 'eHg' }))).toEqual([400, 'invalid_cursor', 'cursor'])
})
