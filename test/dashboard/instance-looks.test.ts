import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Dashboard, expectNoAxeViolations, inAllLooks, startDashboard } from '../harness/dashboard.ts'

/** The screens of the operators' house as they are when nothing has happened yet. */
let dashboard: Dashboard

const screens = [
  ['', 'Health'],
  ['/queue', 'Queue'],
  ['/quarantine', 'Quarantine'],
  ['/storage', 'Storage'],
  ['/backups', 'Backups'],
  ['/delivery', 'Delivery'],
  ['/certificates', 'Certificates'],
  ['/organizations', 'Organizations'],
  ['/audit', 'Audit log'],
  ['/operators', 'Operators'],
] as const

beforeAll(async () => {
  dashboard = await startDashboard()
}, 90_000)
afterAll(() => dashboard.stop())

test('every screen has no violation of axe-core, and the browser complains of nothing', async () => {
  const { page, open, complaints } = await dashboard.openAs({ isOperator: true })
  for (const [path, title] of screens) {
    await open(`/app/instance${path}`)
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await inAllLooks(page, `instance${path.replace('/', '-')}`, expectNoAxeViolations)
  }
  expect(complaints).toEqual([])
}, 240_000)
