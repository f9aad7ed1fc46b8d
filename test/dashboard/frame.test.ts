import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Dashboard, expectNoAxeViolations, inAllLooks, startDashboard } from '../harness/dashboard.ts'

/** The frame around the screens, in a real browser with the real content security policy. */
let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await startDashboard()
})

afterAll(() => dashboard.stop())

test('a screen is shown without a complaint of the browser, and has no violation of axe-core', async () => {
  const { page, open, complaints } = await dashboard.openAs({})
  await open('/domains')
  await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor()
  await page.getByText('demo.test').first().waitFor()
  expect(await page.title()).toBe('Domains · Mailroom')
  await inAllLooks(page, 'frame', expectNoAxeViolations)
  expect(complaints).toEqual([])
})

test('the keyboard goes to screens, finds commands and shows what it can do', async () => {
  const { page, open, complaints } = await dashboard.openAs({})
  await open('/domains')
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()
  await heading('Domains')
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  await heading('Mailboxes')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Mailboxes')

  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  await palette.getByRole('combobox').fill('dom add')
  await expectNoAxeViolations(page)
  await page.keyboard.press('Enter')
  await heading('Add a domain')
  await page.getByLabel('Domain name').fill('g m?')
  expect(await page.getByLabel('Domain name').inputValue()).toBe('g m?')

  await page.getByRole('heading', { level: 1 }).click()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Go to Mailboxes').waitFor()
  await help.getByRole('switch').click()
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  expect(await help.count()).toBe(0)
  expect(complaints).toEqual([])
})

test('while the server is away the page says so, keeps what was typed, and goes on when it is back', async () => {
  const { page, context, open } = await dashboard.openAs({})
  await open('/domains/new')
  await page.getByLabel('Domain name').fill('later.test')
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Continue' }).click()
  const banner = page.getByText('The server does not answer. Nothing is lost')
  await banner.first().waitFor()
  expect(await page.getByLabel('Domain name').inputValue()).toBe('later.test')
  await context.setOffline(false)
  await banner.first().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('_mailroom.later.test').waitFor()
})
