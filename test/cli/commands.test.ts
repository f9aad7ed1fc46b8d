import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyAuthenticator } from '../../src/accounts/keys/keys.ts'
import { systemClock } from '../../src/base/clock.ts'
import { commandList, commandNames, loadCommand } from '../../src/cli/commands.ts'
import { projectRoot, runCommand } from '../harness/cli.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.close())

function mailroom(...args: string[]) {
  return runCommand(args, { MAILROOM_DATABASE_URL: database.url })
}

async function json(...args: string[]) {
  const { status, out, err } = await mailroom(...args, '--json')
  expect([status, err]).toEqual([0, ''])
  return JSON.parse(out)
}

test('./mailroom --help prints the list of the definitions, without Bun', async () => {
  const bare = { env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' }, cwd: '/' }
  const help = Bun.spawnSync([join(projectRoot, 'mailroom'), '--help'], bare).stdout.toString()
  expect(help).toBe(`${await commandList()}\n`)
  expect(Bun.spawnSync([join(projectRoot, 'mailroom')], bare).stdout.toString()).toBe(help)
})

test.each(commandNames)('./mailroom %s --help names all options of its commands', async name => {
  const group = await loadCommand(name)
  if (!group) throw new Error(`there is no ${name}`)
  const help = await mailroom(name, '--help')
  expect([help.status, help.err, help.out]).toEqual([0, '', `${group.help}\n`])
  for (const usage of group.usage) expect(help.out).toContain(`${usage}\n`)
  for (const { call } of group.listing) {
    const { command } = group.resolve(call.split(' ').slice(1))
    expect(command.help).toStartWith(`./mailroom ${command.name}`)
    for (const [option] of command.usage.join().matchAll(/--[a-z-]+/g)) expect(command.help).toContain(option)
  }
})

test('prints its version', async () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'))
  expect(await mailroom('--version')).toEqual({ status: 0, out: `${version}\n`, err: '' })
  expect(Bun.spawnSync([join(projectRoot, 'mailroom'), '--version']).stdout.toString()).toBe(`${version}\n`)
})

test('creates an organization and a key that the API accepts until it is revoked', async () => {
  const organization = await json('org', 'create', 'Meadow', '--plan', 'free')
  expect(organization).toEqual({ id: expect.stringMatching(/^org_/), name: 'Meadow', plan: 'free' })
  expect(await json('org', 'list')).toContainEqual(expect.objectContaining({ id: organization.id, plan: 'free' }))

  const made = await json('key', 'create', '--org', organization.id)
  const keyring = openKeyAuthenticator(database.db, systemClock)
  const caller = await keyring.authenticate(`Bearer ${made.key}`)
  expect(caller.organizationId).toBe(organization.id)
  expect(caller.scopes.has('email:send')).toBe(true)
  expect(caller.scopes.has('members:read')).toBe(false)

  const listed = await json('key', 'list', '--org', organization.id)
  expect(listed).toEqual([expect.objectContaining({ id: made.id, revoked_at: null })])
  expect(JSON.stringify(listed)).not.toContain(made.key.slice(-20))

  expect(await json('key', 'revoke', made.id)).toEqual({ id: made.id, revoked: true })
  await expect(keyring.authenticate(`Bearer ${made.key}`)).rejects.toThrow('revoked')
  await keyring.close()
})

test('moves an organization to a plan, and shows its usage', async () => {
  const { id } = await json('org', 'create', 'Pond')
  const month = systemClock.now().slice(0, 7)
  const rows = [0, 7].map(slot => ({ organization_id: id, month, slot, accepted: 25_001 }))
  await database.db.insertInto('usage_months').values(rows).execute()
  const shown = { id, name: 'Pond', created_at: expect.any(String), month, used: 50_002 }
  expect(await json('org', 'show', id)).toEqual({ ...shown, plan: 'unlimited', included: null, overage: 0 })
  expect(await json('org', 'plan', id, 'paid')).toEqual({ id, name: 'Pond', plan: 'paid' })
  expect(await json('org', 'show', id)).toEqual({ ...shown, plan: 'paid', included: 50_000, overage: 2 })
  expect((await mailroom('org', 'show', id)).out).toBe(
    `${id}  Pond\nplan paid: 50002 of 50000 emails in ${month}, 2 of them overage\n`,
  )
})

test('creates a key with the given scopes, name and expiry', async () => {
  const { id } = await json('org', 'create', 'Brook')
  await json(
    'key',
    'create',
    '--org',
    id,
    '--scopes',
    'email:send, inbox:read',
    '--name',
    'shop',
    '--expires',
    '2099-01-31T00:00:00Z',
  )
  expect(await json('key', 'list', '--org', id)).toEqual([
    expect.objectContaining({
      name: 'shop',
      scopes: ['email:send', 'inbox:read'],
      expires_at: '2099-01-31T00:00:00.000000Z',
    }),
  ])
})

test.each([
  [['org', 'create'], 2, 'NAME is missing'],
  [['org', 'create', 'a', 'b'], 2, '"b" is one argument too many'],
  [['org', 'create', 'a', '--plan', 'gold'], 2, '"gold" is not a plan'],
  [['org', 'destroy'], 2, '"destroy" is not a command of ./mailroom org; there are create, owner, list, show, plan'],
  [['org', 'lst'], 2, '"lst" is not a command of ./mailroom org; did you mean list?'],
  [['org'], 2, './mailroom org needs one of: create, owner, list, show, plan'],
  [['org', 'create', 'a', '--with-keys'], 2, "Unknown option '--with-keys'; did you mean --with-key?"],
  [['org', 'create', 'a', '--plan'], 2, "Option '--plan <value>' argument missing"],
  [['org', 'show'], 2, 'ID is missing'],
  [['org', 'show', 'pond'], 2, '"pond" is not the id of an organization'],
  [['org', 'show', 'org_00000000000000000000000000'], 1, 'There is no organization org_0'],
  [['org', 'plan', 'org_00000000000000000000000000'], 2, 'PLAN is missing'],
  [['org', 'plan', 'org_00000000000000000000000000', 'gold'], 2, '"gold" is not a plan'],
  [['org', 'plan', 'org_00000000000000000000000000', 'free'], 1, 'There is no organization org_0'],
  [['key', 'create'], 2, '--org is missing'],
  [['key', 'create', '--org', 'org_00000000000000000000000000'], 1, 'There is no organization'],
  [
    ['key', 'create', '--org', 'org_00000000000000000000000000', '--scopes', 'email:all'],
    2,
    '"email:all" is not a scope',
  ],
  [
    ['key', 'create', '--org', 'org_00000000000000000000000000', '--expires', '2001-01-01T00:00:00Z'],
    2,
    'is in the past',
  ],
  [['key', 'revoke', 'key_00000000000000000000000000'], 1, 'There is no key'],
  [['migrate', '--verbose'], 2, "Unknown option '--verbose'."],
  [['migrte'], 2, 'there is no command "migrte"; did you mean migrate?'],
  [['fly'], 2, 'there is no command "fly"'],
])('says what is wrong with %p', async (args, status, sentence) => {
  const ran = await mailroom(...args)
  expect(ran.err).toContain(sentence)
  expect([ran.status, ran.out]).toEqual([status, ''])
})

test('a wrong setting stops any command with a message and status 2', async () => {
  const ran = await runCommand(['migrate'], { MAILROOM_DATABASE_URL: database.url, MAILROOM_SNMP_LISTEN: 'x' })
  expect(ran.status).toBe(2)
  expect(ran.err).toBe('mailroom: MAILROOM_SNMP_LISTEN is not a setting of Mailroom; docs/settings.md lists them.\n')
})

test('an unreachable database is reported, not thrown', async () => {
  const ran = await runCommand(['org', 'list'], { MAILROOM_DATABASE_URL: 'mysql://root@127.0.0.1:1/mailroom' })
  expect([ran.status, ran.out]).toEqual([1, ''])
  expect(ran.err).toMatch(/^mailroom: the database cannot be used: /)
})

test('migrate prints the migrations that ran, none on a current database', async () => {
  expect(await json('migrate')).toEqual({ migrations: [] })
})

test('an unknown command is reported before anything is installed', () => {
  const ran = Bun.spawnSync([join(projectRoot, 'mailroom'), 'fly'], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' },
  })
  expect(ran.exitCode).toBe(2)
  expect(ran.stderr.toString()).toBe('mailroom: there is no command "fly"; ./mailroom --help lists them.\n')
})

test('the lock file contains no host name', () => {
  expect(readFileSync(join(projectRoot, 'bun.lock'), 'utf8')).not.toMatch(/https?:|\/\/[a-z0-9.-]+\.[a-z]{2,}/i)
})
