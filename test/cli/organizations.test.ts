import { afterAll, beforeAll, expect, test } from 'bun:test'
import { userInfo } from 'node:os'
import { recordAuditEntry } from '../../src/accounts/audit/audit.ts'
import { openKeyAuthenticator } from '../../src/accounts/keys/keys.ts'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/ids.ts'
import { auditCommand } from '../../src/cli/audit.ts'
import type { Command } from '../../src/cli/command.ts'
import { keyCommand } from '../../src/cli/key.ts'
import { memberCommand } from '../../src/cli/member.ts'
import { orgCommand } from '../../src/cli/org.ts'
import { createSendingDomain } from '../harness/accepted-emails.ts'
import { outputOf } from '../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase(4)
})
afterAll(() => database.close())

const run = (command: Command, ...args: string[]) => outputOf(command, args, { MAILROOM_DATABASE_URL: database.url })
const json = async (command: Command, ...args: string[]) => (await run(command, ...args)).json

test('lists organizations with their usage, and the plans', async () => {
  const { id } = await json(orgCommand, 'create', 'Meadow', '--plan', 'free')
  const month = systemClock.now().slice(0, 7)
  const rows = [0, 9].map(slot => ({ organization_id: id, month, slot, accepted: 20 }))
  await database.db
    .insertInto('usage_months')
    .values([...rows, { organization_id: id, month: '2001-01', slot: 0, accepted: 5 }])
    .execute()
  const renamed = await json(orgCommand, 'rename', id, '  Grove ')
  expect(renamed).toEqual({ id, name: 'Grove', plan: 'free' })
  expect(await json(orgCommand, 'list')).toContainEqual({
    ...{ id, name: 'Grove', plan: 'free', created_at: expect.any(String) },
    ...{ month, used: 40, included: 3000, overage: 0 },
  })
  expect((await run(orgCommand, 'list')).text).toContain(`${id}  free       Grove  (40 of 3000 emails in ${month})`)
  expect((await json(orgCommand, 'plans')).find((each: { plan: string }) => each.plan === 'free')).toEqual({
    ...{ plan: 'free', included: 3000, organizations: 1 },
  })
})

test('deletes an empty organization, and lists what another one still has', async () => {
  const { id } = await json(orgCommand, 'create', 'Empty')
  const { key: secret } = await json(keyCommand, 'create', '--org', id)
  const brandId = newId('brd')
  const now = systemClock.now()
  const brand = { id: brandId, organization_id: id, name: 'b', slug: 'b', status: 'ready' as const }
  await database.db
    .insertInto('brands')
    .values({ ...brand, created_at: now, updated_at: now })
    .execute()
  const added = await json(
    memberCommand,
    'add',
    '--org',
    id,
    '--email',
    'ann@a.test',
    '--name',
    'Ann',
    '--role',
    'admin',
  )
  await expect(run(orgCommand, 'delete', id)).rejects.toThrow(`${id} still has 1 members; nothing was deleted.`)
  await database.db.deleteFrom('members').where('id', '=', added.id).execute()
  expect(await json(orgCommand, 'delete', id)).toEqual({ id, deleted: true })
  const keyring = openKeyAuthenticator(database.db, systemClock)
  await expect(keyring.authenticate(`Bearer ${secret}`)).rejects.toThrow('There is no API key')
  await keyring.close()
  await expect(run(orgCommand, 'delete', id)).rejects.toThrow('There is no organization')

  const { organizationId } = await createSendingDomain(database.db, now)
  await expect(run(orgCommand, 'delete', organizationId)).rejects.toThrow('still has 1 domains')
  const { brands } = await database.db
    .selectFrom('brands')
    .select(({ fn }) => fn.countAll<number>().as('brands'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  expect(Number(brands)).toBe(1)
})

test('the audit log shows where an operator or a person did something, and can be narrowed to an organization', async () => {
  const { id } = await json(orgCommand, 'create', 'Glade')
  await json(orgCommand, 'create', 'Another')
  const ann = { actor: 'ann@a.test', clock: systemClock, ip: '192.0.2.7' }
  await recordAuditEntry(database.db, ann, { action: 'key.create', subject: 'key_1', organizationId: id })
  expect(await json(auditCommand, 'list', '--org', id)).toEqual([
    expect.objectContaining({ action: 'key.create', actor: 'ann@a.test', ip: '192.0.2.7', organization_id: id }),
    expect.objectContaining({ action: 'org.create', subject: id, ip: null, organization_id: id }),
  ])
  expect((await run(auditCommand, 'list', '--org', id)).text).toContain(
    `  ann@a.test (192.0.2.7)  key.create  key_1  in ${id}  {}`,
  )
})

test('disables a key and enables it again, with an audit entry for each', async () => {
  const { id: organization } = await json(orgCommand, 'create', 'Brook')
  const made = await json(keyCommand, 'create', '--org', organization)
  const keyring = openKeyAuthenticator(database.db, systemClock)
  expect(await json(keyCommand, 'disable', made.id)).toEqual({ id: made.id, disabled: true })
  await expect(keyring.authenticate(`Bearer ${made.key}`)).rejects.toThrow('disabled')
  expect((await run(keyCommand, 'list')).text).toContain(
    `${organization}  ${made.id}  Made on the command line  (the whole`,
  )
  expect((await run(keyCommand, 'list', '--org', organization)).text).toMatch(/; disabled .*Z; last used never\)/)
  expect(await json(keyCommand, 'enable', made.id)).toEqual({ id: made.id, disabled: false })
  await keyring.authenticate(`Bearer ${made.key}`)
  await keyring.close()
  const records = await json(auditCommand, 'list', '--subject', made.id)
  expect(records.map((record: { action: string }) => record.action)).toEqual([
    'key.enable',
    'key.disable',
    'key.create',
  ])
  expect(records[0].actor).toStartWith(userInfo().username)
  expect(JSON.stringify(records)).not.toContain(made.key.slice(31))
  expect(await json(auditCommand, 'list', '--action', 'key.enable', '--since', '2999-01-01T00:00:00Z')).toEqual([])
})
