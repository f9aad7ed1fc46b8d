import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKeyAsMember } from '../../src/accounts/keys/member-keys.ts'
import { permissions } from '../../src/accounts/keys/permissions.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/until.ts'
import { keepMine, takeTheirs, untilTicked } from './conflict.ts'
import { look } from './look.ts'

let dashboard: Dashboard
const timeoutMs = 120_000

beforeAll(async () => {
  dashboard = await startDashboard()
}, timeoutMs)
afterAll(() => dashboard?.stop())

async function newColleague(name: string, email: string): Promise<Id<'mem'>> {
  const { demo, database } = dashboard.mailroom
  const brandIds = [demo.brand_id]
  await (await dashboard.openAs({ name, email, access: { role: 'member', brandIds, permissions } })).context.close()
  const row = await database.db.selectFrom('members').select('id').where('email', '=', email).executeTakeFirstOrThrow()
  return row.id
}

test(
  'a colleague joins with the link of an invitation, which is shown once; another invitation is revoked',
  async () => {
    const { page, open, complaints } = await dashboard.openAs({ email: 'olivia@example.com', name: 'Olivia Park' })
    await open('/people')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('Email address').fill('zoe@example.com')
    await page.getByRole('checkbox', { name: 'Create API keys of their own' }).uncheck()
    await look(page, 'people-invite')
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? ''
    await look(page, 'people-link')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Actions for zoe@example.com' }).waitFor()
    expect(await page.content()).not.toContain(link)

    const colleague = await dashboard.openAsVisitor()
    await colleague.page.goto(link.replace(/^https?:\/\/[^/]+/, dashboard.url))
    await colleague.page.getByLabel('Your name').fill('Zoe Diaz')
    await colleague.page.getByRole('button', { name: 'Create my account and join' }).click()
    await colleague.page.waitForURL(/\/app\/account/)
    await open('/people')
    await page
      .getByRole('row', { name: /Zoe Diaz/ })
      .getByText('16 permissions')
      .waitFor()
    await page.getByText('No invitation is open.').waitFor()

    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Actions for Whoever has the link' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No invitation is open.').waitFor()
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a member is limited, signed out and removed, with the keys that end named before',
  async () => {
    const memberId = await newColleague('Mia Chen', 'mia@example.com')
    await newColleague('مريم حسن', 'maryam@example.com')
    const { demo, database } = dashboard.mailroom
    const organizationId = demo.organization_id as Id<'org'>
    const brandId = demo.brand_id as Id<'brd'>
    const key = { name: 'Mia’s laptop', scopes: ['inbox:read'], brandId, expiresAt: null } as const
    await createKeyAsMember(database.db, { organizationId, memberId }, key, systemClock)
    const { page, open } = await dashboard.openAs({ name: 'Otto Weiß' })
    await open('/people')
    const row = page.getByRole('row', { name: /Mia Chen/ })
    await row.waitFor()
    await look(page, 'people')
    const choose = async (action: string) => {
      await row.getByRole('button', { name: 'Actions for Mia Chen' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('Change access')
    await page.getByRole('checkbox', { name: 'Send, reply and forward' }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await row.getByText('16 permissions').waitFor()
    await choose('Sign out everywhere')
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await row.getByText('nowhere').waitFor()
    await choose('Change role')
    await page.getByRole('radio', { name: 'Admin' }).check()
    await look(page, 'people-role')
    await page.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Everything').waitFor()
    await choose('Remove')
    await page.getByText('Mia’s laptop').waitFor()
    await look(page, 'people-remove')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
    const actions = await database.db.selectFrom('audit_log').select('action').where('subject', '=', memberId).execute()
    expect(actions.map(({ action }) => action)).toEqual([
      'member.change',
      'member.end-sessions',
      'member.role',
      'member.remove',
    ])
  },
  timeoutMs,
)

test(
  'of two who change what a member may do, the later sees it, and decides',
  async () => {
    const memberId = await newColleague('Nora Lind', 'nora@example.com')
    const path = `/v1/members/${memberId}`
    const { api } = dashboard.mailroom
    const { page, open, complaints } = await dashboard.openAs({ name: 'Otto Weiß' })
    await open('/people')
    const row = page.getByRole('row', { name: /Nora Lind/ })
    const choose = async (action: string) => {
      await row.getByRole('button', { name: 'Actions for Nora Lind' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    const box = (name: string) => page.getByRole('dialog').getByRole('checkbox', { name })
    const save = () => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()

    await choose('Change access')
    await box('Send, reply and forward').uncheck()
    await api('PATCH', path, { permissions: ['inbox:read'] })
    await save()
    await look(page, 'people-conflict')
    await takeTheirs(page)
    await untilTicked(page, 'Create API keys of their own', false)
    await box('Create API keys of their own').check()
    await save()
    await row.getByText('2 permissions').waitFor()

    await choose('Change access')
    await box('Create API keys of their own').uncheck()
    await api('PATCH', path, { permissions: [] })
    await save()
    await keepMine(page)
    await row.getByText('1 permission').waitFor()
    expect((await api('GET', path)).json.permissions).toEqual(['inbox:read'])

    await choose('Change role')
    await page.getByRole('radio', { name: 'Admin' }).check()
    await api('PATCH', path, { permissions: ['email:send'] })
    await save()
    await takeTheirs(page)
    await until(() => page.getByRole('radio', { name: 'Member' }).isChecked(), { what: 'the role as it is' })
    await untilTicked(page, 'Send, reply and forward', true)
    await page.getByRole('radio', { name: 'Admin' }).check()
    await api('PATCH', path, { permissions: [] })
    await save()
    await keepMine(page)
    await row.getByText('Everything').waitFor()
    expect((await api('GET', path)).json.role).toBe('admin')
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'of two who change what an invitation will give, the later sees it, and decides',
  async () => {
    const { api, demo } = dashboard.mailroom
    const invited = { email: 'ines@example.com', brand_ids: [demo.brand_id], permissions: ['inbox:read'] }
    const path = `/v1/invitations/${(await api('POST', '/v1/invitations', invited)).json.id}`
    const { page, open, complaints } = await dashboard.openAs({ name: 'Otto Weiß' })
    await open('/people')
    const openDialog = async () => {
      await page.getByRole('button', { name: 'Actions for ines@example.com' }).click()
      await page.getByRole('menuitem', { name: 'Change access' }).click()
    }
    const keys = page.getByRole('dialog').getByRole('checkbox', { name: 'Create API keys of their own' })
    const save = () => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await openDialog()
    await keys.check()
    await api('PATCH', path, { permissions: ['email:send'] })
    await save()
    await takeTheirs(page)
    await untilTicked(page, 'Create API keys of their own', false)
    await keys.check()
    await api('PATCH', path, { permissions: [] })
    await save()
    await keepMine(page)
    await page
      .getByRole('row', { name: /ines@example.com/ })
      .getByText('2 permissions')
      .waitFor()
    expect((await api('GET', path)).json.permissions).toEqual(['email:send', 'api_access'])

    await openDialog()
    await api('DELETE', path)
    await save()
    await page.getByText('The invitation was revoked.').waitFor()
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a member finds no people in the navigation, and is refused by the server',
  async () => {
    const brandIds = [dashboard.mailroom.demo.brand_id]
    const { page, open } = await dashboard.openAs({ access: { role: 'member', brandIds, permissions } })
    await open('/people')
    await page.getByText('Only owners and administrators of the organization may do this.').waitFor()
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
  },
  timeoutMs,
)
