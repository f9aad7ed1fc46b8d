import { afterAll, beforeAll, expect, test } from 'bun:test'
import { $ } from 'bun'
import type { Permission } from '../../src/accounts/keys/permissions.ts'
import { permissions } from '../../src/accounts/keys/permissions.ts'
import type { MemberAccess } from '../../src/accounts/members/members.ts'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'
import { look } from './look.ts'

let dashboard: Dashboard
const timeoutMs = 120_000

beforeAll(async () => {
  dashboard = await startDashboard()
}, timeoutMs)
afterAll(() => dashboard?.stop())

const limited = (granted: readonly Permission[] = permissions): MemberAccess => ({
  role: 'member',
  brandIds: [dashboard.mailroom.demo.brand_id],
  permissions: granted,
})

test(
  'a key is made with a preset, shown once with a line that works in curl, and revoked',
  async () => {
    const { page, open, complaints } = await dashboard.openAs({ email: 'olivia@example.com', name: 'Olivia Park' })
    await open('/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill('Shop checkout')
    await page.getByRole('radio', { name: 'Agent' }).check()
    await page.getByText('Choose one by one').click()
    await page.getByRole('checkbox', { name: 'Write drafts' }).uncheck()
    await look(page, 'keys-create')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const line = page.getByRole('figure', { name: 'Try it' }).locator('code')
    await line.waitFor()
    await look(page, 'keys-created')
    const command = (await line.textContent()) ?? ''
    const answer = await $`sh -c ${command.replace('curl ', 'curl -s ')}`.json()
    expect(answer).toMatchObject({ status: 'queued', recipients: [{ email: 'olivia@example.com' }] })
    const key = (await page.getByRole('dialog').locator('code').first().textContent()) ?? ''
    await page.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('row', { name: /Shop checkout/ })
    expect(await row.textContent()).toContain('8 permissions')
    expect(await page.content()).not.toContain(key.slice(31, 74))
    await look(page, 'keys')
    await row.getByRole('button', { name: 'Actions for Shop checkout' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    const refused = await fetch(`${dashboard.mailroom.http}/v1/brands`, { headers: { authorization: `Bearer ${key}` } })
    expect(refused.status).toBe(401)
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a member makes a key for their brand alone, and sees no other’s',
  async () => {
    const { page, open } = await dashboard.openAs({ name: 'Mia Chen', access: limited(['api_access', 'inbox:read']) })
    await open('/keys')
    await page.getByRole('heading', { name: 'No key is in use' }).waitFor()
    await look(page, 'keys-empty')
    await page.getByRole('button', { name: 'Create key' }).click()
    expect(await page.getByRole('dialog').getByRole('radio').count()).toBe(1)
    expect(await page.getByLabel('Brand').locator('option').allInnerTexts()).toEqual(['Demo'])
    await page.getByLabel('Name').fill('Reader')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const command = (await page.getByRole('figure', { name: 'Try it' }).locator('code').textContent()) ?? ''
    expect(await $`sh -c ${command.replace('curl ', 'curl -s ')}`.json()).toEqual({ data: [], next_cursor: null })
  },
  timeoutMs,
)

test(
  'whoever has no API access learns whom to ask',
  async () => {
    const { page, open } = await dashboard.openAs({ name: 'Noah Berg', access: limited(['inbox:read']) })
    await open('/keys')
    await page.getByText('Your access has no API access.').waitFor()
    expect(await page.getByText(/^Ask an owner: /).textContent()).toContain('olivia@example.com')
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
    await look(page, 'keys-no-access')
  },
  timeoutMs,
)
