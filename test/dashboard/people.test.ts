import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKeyAsMember } from '../../src/accounts/keys/member-keys.ts'
import { permissions } from '../../src/accounts/keys/permissions.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'
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
