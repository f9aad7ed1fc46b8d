import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { permissions } from '../../src/accounts/keys/permissions.ts'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'
import { until } from '../harness/until.ts'
import { keepMine, takeTheirs } from './conflict.ts'
import { look } from './look.ts'

let dashboard: Dashboard
const timeoutMs = 120_000

beforeAll(async () => {
  dashboard = await startDashboard()
}, timeoutMs)
afterAll(() => dashboard?.stop())

test(
  'the log shows what programs asked, and leads to the email that they made',
  async () => {
    const { mailroom } = dashboard
    const email = { from: 'hello@demo.test', to: 'zoe@example.com', subject: 'Hi', text: 'Hi' }
    const sent = await mailroom.api('POST', '/v1/emails', email)
    await mailroom.api('GET', '/v1/inbox/msg_00000000000000000000000001')
    await mailroom.api('POST', '/v1/emails', { ...email, from: 'hello@nowhere.test' })
    const { page, open, complaints } = await dashboard.openAs({ name: 'Olivia Park' })
    await until(async () => {
      await open('/requests')
      await page.getByRole('row').nth(1).waitFor()
      return (await page.getByRole('row').count()) >= 4
    })
    const failed = page.getByRole('row', { name: /domain_not_verified/ })
    expect(await failed.textContent()).toContain('422')
    await look(page, 'requests')
    const link = page.getByRole('link', { name: /^The email of the request/ }).first()
    expect(await link.getAttribute('href')).toEndWith(`/sent/${sent.json.id}`)
    await failed.getByRole('button').click()
    await page.getByRole('dialog').getByText('domain_not_verified').waitFor()
    await look(page, 'requests-detail')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByLabel('Status').selectOption('404')
    await page.getByRole('row', { name: /msg_/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('status')).toBe('404')
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'the organization and its brands are named anew',
  async () => {
    const { page, open, complaints } = await dashboard.openAs({ name: 'Olivia Park' })
    await open('/settings')
    await page.getByRole('row', { name: /Messages in trash/ }).waitFor()
    await look(page, 'settings')
    await page.getByRole('region', { name: 'Organization' }).getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Acme Ltd')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('region', { name: 'Organization' }).getByText('Acme Ltd').waitFor()
    await page.getByRole('button', { name: 'Create brand' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Zürich & Söhne')
    expect(await page.getByLabel('Slug').inputValue()).toBe('zu-rich-so-hne')
    await page.getByLabel('Slug').fill('demo')
    await page.getByRole('dialog').getByRole('button', { name: 'Create brand' }).click()
    await page.getByText('Another brand of the organization has the slug "demo".').waitFor()
    await look(page, 'settings-brand')
    await page.getByLabel('Slug').fill('zurich')
    await page.getByRole('dialog').getByRole('button', { name: 'Create brand' }).click()
    const brand = page.getByRole('row', { name: /Zürich & Söhne/ })
    await brand.getByText('pending').waitFor()
    await brand.getByRole('button', { name: 'Actions for Zürich & Söhne' }).click()
    await page.getByRole('menuitem', { name: 'Mark as ready' }).click()
    await brand.getByText('ready', { exact: true }).waitFor()
    await brand.getByRole('button', { name: 'Actions for Zürich & Söhne' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Mine')
    const path = `/v1/brands/${(await dashboard.mailroom.api('GET', '/v1/brands')).json.data.at(-1).id}`
    await dashboard.mailroom.api('PATCH', path, { name: 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This was changed by someone else').waitFor()
    await page.getByRole('button', { name: 'Take what was saved' }).click()
    const isTheirs = async () => (await page.getByRole('dialog').getByLabel('Name').inputValue()) === 'Theirs'
    await until(isTheirs, { what: 'the name that was saved is shown' })
    await page.getByRole('dialog').getByLabel('Name').fill('Zürich')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /Zürich/ }).waitFor()
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'of two who rename the organization or set a retention time, the later sees it, and decides',
  async () => {
    const other = await dashboard.openAs({ name: 'Otto Weiß' })
    const { page, open, complaints } = await dashboard.openAs({ name: 'Olivia Park' })
    const save = async (at = page) => await at.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const rename = async (at: Page, name: string) => {
      await at.getByRole('region', { name: 'Organization' }).getByRole('button', { name: 'Rename' }).click()
      await at.getByRole('dialog').getByLabel('Name').fill(name)
    }
    const saveAsOther = async () => {
      await save(other.page)
      await other.page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await open('/settings')
    await other.open('/settings')
    await rename(page, 'Mine')
    await rename(other.page, 'Theirs')
    await saveAsOther()
    await save()
    await takeTheirs(page)
    const field = page.getByRole('dialog').getByLabel('Name')
    await until(async () => (await field.inputValue()) === 'Theirs', { what: 'the name that was saved is shown' })
    await field.fill('Mine')
    await rename(other.page, 'Theirs again')
    await saveAsOther()
    await save()
    await keepMine(page)
    await page.getByRole('region', { name: 'Organization' }).getByText('Mine').waitFor()

    const setDays = async (at: Page, count: string) => {
      await at.getByRole('button', { name: 'Change: Messages in spam' }).click()
      await at.getByRole('radio', { name: 'For a number of days' }).check()
      await at.getByLabel('Days', { exact: true }).fill(count)
    }
    await setDays(page, '11')
    await setDays(other.page, '12')
    await saveAsOther()
    await save()
    await takeTheirs(page)
    const days = page.getByLabel('Days', { exact: true })
    await until(async () => (await days.inputValue()) === '12', { what: 'the days that were saved are shown' })
    await days.fill('13')
    await setDays(other.page, '14')
    await saveAsOther()
    await save()
    await keepMine(page)
    await page
      .getByRole('row', { name: /Messages in spam/ })
      .getByText('13 days')
      .waitFor()
    expect([complaints, other.complaints]).toEqual([[], []])
  },
  timeoutMs,
)

test(
  'a retention time is set after it said what it would delete',
  async () => {
    const { db } = dashboard.mailroom.database
    await db
      .updateTable('request_log')
      .set({ created_at: '2026-01-01 00:00:00.000001' as never })
      .limit(1)
      .execute()
    const { page, open } = await dashboard.openAs({ name: 'Olivia Park' })
    await open('/settings')
    await page.getByRole('button', { name: 'Change: Request log' }).click()
    await page.getByRole('radio', { name: 'For a number of days' }).check()
    await page.getByLabel('Days', { exact: true }).fill('7')
    await page.getByText('This deletes 1 item').waitFor()
    await look(page, 'settings-retention')
    await page.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row', { name: /Request log/ })
    await row.getByText('7 days').waitFor()
    expect(await row.textContent()).toContain('the organization')
  },
  timeoutMs,
)

test(
  'a sender is blocked, allowed and forgotten; what is none is refused beside the field',
  async () => {
    const { page, open, complaints } = await dashboard.openAs({ name: 'Olivia Park' })
    await open('/settings')
    await page.getByText('No sender is allowed or blocked.').waitFor()
    const add = async (sender: string, listing: 'allowed' | 'blocked') => {
      await page.getByRole('button', { name: 'Add sender' }).click()
      await page.getByRole('dialog').getByLabel('Address or domain').fill(sender)
      await page.getByRole('radio', { name: listing }).check()
      await page.getByRole('button', { name: 'Save' }).click()
    }
    await add('everyone', 'blocked')
    await page.getByText('"everyone" is neither an address').waitFor()
    await look(page, 'settings-sender')
    await page.getByLabel('Address or domain').fill('Casino.example')
    await page.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row', { name: /casino\.example/ })
    await row.getByText('blocked').waitFor()
    await add('casino.example', 'allowed')
    await row.getByText('allowed').waitFor()
    const said = page.getByText(/^casino\.example is allowed\. It had been blocked since \w+ \d+\.$/)
    await said.waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.getByText('blocked').waitFor()
    await page.getByRole('button', { name: 'Remove casino.example' }).click()
    await page.getByText('No sender is allowed or blocked.').waitFor()
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a member sees the plan and their brand, and nothing to change',
  async () => {
    const brandIds = [dashboard.mailroom.demo.brand_id]
    const { page, open } = await dashboard.openAs({ access: { role: 'member', brandIds, permissions } })
    await open('/settings')
    await page.getByText('Emails this month').waitFor()
    await page.getByRole('row', { name: /demo/ }).waitFor()
    const names = ['Rename', 'Create brand', 'Actions for Demo']
    for (const name of names) expect(await page.getByRole('button', { name }).count()).toBe(0)
    for (const name of ['Retention', 'Senders']) expect(await page.getByRole('heading', { name }).count()).toBe(0)
  },
  timeoutMs,
)
