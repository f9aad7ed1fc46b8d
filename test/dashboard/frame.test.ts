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
