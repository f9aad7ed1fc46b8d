import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createBrand } from '../../src/accounts/brands/brands.ts'
import { openKeyAuthenticator } from '../../src/accounts/keys/keys.ts'
import { permissions } from '../../src/accounts/keys/permissions.ts'
import { createOrganization } from '../../src/accounts/organizations/organizations.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { CommandError, UsageError } from '../../src/base/operator-error.ts'
import type { Command } from '../../src/cli/command.ts'
import { keyCommand } from '../../src/cli/key.ts'
import { memberCommand } from '../../src/cli/member.ts'
import { runCommand } from '../harness/cli.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
let org: Id<'org'>
let brand: string

beforeAll(async () => {
  database = await freshDatabase()
  org = await newOrganization()
  const deps = { db: database.db, clock: systemClock }
  brand = (await createBrand(deps, { organizationId: org }, { name: 'Shop', slug: 'shop' })).id
})
afterAll(() => database.close())

async function newOrganization(): Promise<Id<'org'>> {
  return (await createOrganization(database.db, { name: 'Meadow', plan: 'unlimited' }, systemClock)).id
}

/** The JSON output of the command. It runs in this process, because starting one for each takes long. */
async function jsonOf(command: Command, ...args: string[]) {
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own output
  return (await command.run(args, { MAILROOM_DATABASE_URL: database.url }))?.json as any
}

let count = 0

function add(role: string, ...more: string[]) {
  const email = `person-${++count}@friend.test`
  return jsonOf(memberCommand, 'add', '--org', org, '--email', email, '--name', 'Ann', '--role', role, ...more)
}

async function scopesOf(shown: string): Promise<readonly string[]> {
  const keyring = openKeyAuthenticator(database.db, systemClock)
  try {
    return [...(await keyring.authenticate(`Bearer ${shown}`)).scopes]
  } finally {
    await keyring.close()
  }
}

test('adds members with every role, lists them, and changes their roles', async () => {
  const owner = await add('owner')
  expect(owner).toMatchObject({ role: 'owner', brand_ids: null, permissions: [...permissions] })
  const limited = await add('member', '--brand', brand, '--permissions', 'inbox:read, api_access')
  expect(limited).toMatchObject({ role: 'member', brand_ids: [brand], permissions: ['inbox:read', 'api_access'] })
  expect(await jsonOf(memberCommand, 'list', '--org', org)).toEqual([owner, limited])
  expect(await jsonOf(memberCommand, 'role', limited.id, 'admin')).toMatchObject({ role: 'admin', brand_ids: null })
  expect(await jsonOf(memberCommand, 'role', limited.id, 'member', '--brand', brand)).toMatchObject({
    role: 'member',
    brand_ids: [brand],
    permissions: [...permissions],
  })
  expect(await jsonOf(memberCommand, 'remove', limited.id)).toEqual({ id: limited.id, deleted: true })
})

test('prints what it did, and refuses to remove the last owner with status 1', async () => {
  const other = await newOrganization()
  const settings = { MAILROOM_DATABASE_URL: database.url }
  const wanted = ['--org', other, '--email', 'O@friend.test', '--name', 'Olga', '--role', 'owner']
  const made = await runCommand(['member', 'add', ...wanted], settings)
  expect(made.out).toMatch(/^Added o@friend\.test: mem_\w{26} {2}owner {2}Olga <o@friend\.test>/)
  const id = /mem_\w{26}/.exec(made.out)?.[0] ?? ''
  const ran = await runCommand(['member', 'remove', id], settings)
  expect([ran.status, ran.err]).toEqual([1, `mailroom: ${id} is the only owner of the organization.\n`])
  await expect(jsonOf(memberCommand, 'role', id, 'admin')).rejects.toMatchObject({ code: 'last_owner' })
})

test('creates keys as a member: an owner’s can manage members, another member’s is limited to their rights in a brand', async () => {
  const owner = await add('owner')
  const limited = await add('member', '--brand', brand, '--permissions', 'api_access,inbox:read')
  const ofMember = await jsonOf(keyCommand, 'create', '--member', limited.id, '--brand', brand)
  expect(await scopesOf(ofMember.key)).toEqual(['inbox:read'])
  const ofOwner = await jsonOf(keyCommand, 'create', '--member', owner.id, '--scopes', 'members:read')
  expect(await scopesOf(ofOwner.key)).toEqual(['members:read'])
  expect(await scopesOf((await jsonOf(keyCommand, 'create', '--member', owner.id)).key)).not.toContain('members:read')
  await jsonOf(memberCommand, 'remove', limited.id)
  await expect(scopesOf(ofMember.key)).rejects.toThrow('revoked')
})

test('lists the owner and creator of each key, and when it was last used', async () => {
  const organization = await newOrganization()
  const deps = { db: database.db, clock: systemClock }
  const { id: own } = await createBrand(deps, { organizationId: organization }, { name: 'Shop', slug: 'shop' })
  const person = (role: string, ...more: string[]) =>
    jsonOf(
      memberCommand,
      'add',
      '--org',
      organization,
      '--email',
      `${role}@friend.test`,
      '--name',
      'Ann',
      '--role',
      role,
      ...more,
    )
  const owner = await person('owner')
  const limited = await person('member', '--brand', own, '--permissions', 'api_access,inbox:read')
  await jsonOf(keyCommand, 'create', '--org', organization)
  await jsonOf(keyCommand, 'create', '--member', owner.id)
  const theirs = await jsonOf(keyCommand, 'create', '--member', limited.id, '--brand', own)
  await scopesOf(theirs.key)
  const byOwner = { id: owner.id, email: 'owner@friend.test' }
  const byMember = { id: limited.id, email: 'member@friend.test' }
  const listed = await jsonOf(keyCommand, 'list', '--org', organization)
  expect(
    listed.map((record: Record<string, unknown>) => [record['member'], record['made_by'], record['last_used_at']]),
  ).toEqual([
    [null, null, null],
    [null, byOwner, null],
    [byMember, byMember, expect.any(String)],
  ])
  await jsonOf(memberCommand, 'remove', limited.id)
  const text = (await keyCommand.run(['list', '--org', organization], { MAILROOM_DATABASE_URL: database.url }))?.text
  expect(text).toContain('last used never)\n  belongs to the organization, created on the command line\n')
  expect(text).toContain(`belongs to the organization, created by owner@friend.test, ${owner.id}\n`)
  expect(text).toContain(`last used ${listed[2].last_used_at})\n  belongs to ${limited.id}, no longer a member\n`)
})

test('a key from the command line can manage members only with explicit scopes', async () => {
  expect(await scopesOf((await jsonOf(keyCommand, 'create', '--org', org)).key)).not.toContain('members:write')
  const asked = await jsonOf(keyCommand, 'create', '--org', org, '--scopes', 'members:read,members:write')
  expect(await scopesOf(asked.key)).toEqual(['members:read', 'members:write'])
})

test('says what is wrong', async () => {
  const { id } = await add('member', '--brand', brand, '--permissions', 'inbox:read')
  const adding = ['add', '--org', org, '--email', 'x@friend.test', '--name', 'X']
  for (const [command, args, sentence] of [
    [memberCommand, ['fly'], '"fly" is not a command of ./mailroom member; there are add, list, link, role, remove'],
    [memberCommand, ['add', '--org', org], '--email is missing'],
    [memberCommand, ['add', '--org', org, '--email', 'Ann <x@y.test>'], 'is not an address'],
    [
      memberCommand,
      ['add', '--org', org, '--email', 'x@friend.test', '--name', ' '],
      '--name: a name has 1 to 120 characters',
    ],
    [memberCommand, adding, '--role is missing'],
    [memberCommand, [...adding, '--role', 'king'], '"king" is none of owner, admin, member'],
    [memberCommand, [...adding, '--role', 'member'], '--brand is missing'],
    [memberCommand, [...adding, '--role', 'admin', '--brand', brand], 'an admin may do everything'],
    [
      memberCommand,
      [...adding, '--role', 'member', '--brand', brand, '--permissions', 'members:read'],
      'not a permission',
    ],
    [memberCommand, ['remove', 'x'], '"x" is not the id of a member'],
    [keyCommand, ['create', '--member', id, '--org', org], '--org and --member exclude each other'],
  ] as const)
    await expect(jsonOf(command, ...args)).rejects.toThrow(sentenceOf(UsageError, sentence))
  const absent = 'mem_00000000000000000000000000'
  await expect(jsonOf(memberCommand, 'remove', absent)).rejects.toThrow(sentenceOf(CommandError, 'There is no member'))
  await expect(jsonOf(keyCommand, 'create', '--member', absent)).rejects.toThrow('There is no member')
  const nowhere = [...adding, '--role', 'member', '--brand', 'brd_00000000000000000000000000']
  await expect(jsonOf(memberCommand, ...nowhere)).rejects.toMatchObject({ code: 'not_found' })
  const ofMember = jsonOf(keyCommand, 'create', '--member', id, '--brand', brand)
  await expect(ofMember).rejects.toMatchObject({ code: 'insufficient_scope' })
  const managing = jsonOf(keyCommand, 'create', '--org', org, '--brand', brand, '--scopes', 'members:read')
  await expect(managing).rejects.toMatchObject({ code: 'invalid_request' })
})

function sentenceOf(kind: typeof UsageError | typeof CommandError, sentence: string) {
  return expect.objectContaining({ name: kind.name, message: expect.stringContaining(sentence) })
}
