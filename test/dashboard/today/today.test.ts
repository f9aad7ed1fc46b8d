import { afterAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { pauseBrand } from '../../../src/sending/reports/pause-table.ts'
import { startDashboardAsOwner } from '../../harness/dashboard.ts'
import { until } from '../../harness/until.ts'
import { look } from '../look.ts'

const { dashboard, owner } = await startDashboardAsOwner()
afterAll(() => dashboard.stop())

const timeoutMs = 120_000

const send = (to: string) =>
  dashboard.mailroom.api('POST', '/v1/emails', {
    from: 'Demo <hello@demo.test>',
    to,
    subject: 'Your order is on its way',
    text: 'Hello',
  })

test(
  'the first steps tick themselves, and nothing needs anybody',
  async () => {
    const { page } = owner
    await owner.open('')
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    await page.getByRole('heading', { name: 'A domain that is ready (done)' }).waitFor()
    await page.getByText('Nothing needs you.').waitFor()
    expect(await page.getByRole('region', { name: 'Needs attention' }).count()).toBe(0)
    await look(page, 'today-first')
    await send('hello@demo.test')
    await page.getByRole('heading', { name: 'The first mail out (done)' }).waitFor({ timeout: 60_000 })
  },
  timeoutMs,
)

test(
  'what is wrong stands on every screen and on Today, with a link to where it is mended',
  async () => {
    for (let i = 0; i < 6; i++) await send('bounce@simulator.test')
    for (let i = 0; i < 4; i++) await send('delivered@simulator.test')
    const brandId = dashboard.mailroom.demo.brand_id as Id<'brd'>
    await pauseBrand(dashboard.mailroom.database.db, brandId, '6 of 10 emails bounced, 60 %.', systemClock.now())
    const { page } = owner
    const strip = page.getByRole('region', { name: 'Needs attention' })
    const lamps = strip.getByRole('link', { name: /1 brand paused|6 bounced in 24 h/ })
    await until(
      async () => {
        await owner.open('/domains')
        await page.getByRole('heading', { level: 1 }).waitFor()
        return (await lamps.count()) === 2
      },
      { what: 'both lamps are lit', withinMs: 60_000 },
    )
    await owner.open('')
    await page.getByText('6 of 10 emails bounced, 60 %.').waitFor()
    await page
      .getByRole('link', { name: /6 bounced$|^6/ })
      .first()
      .waitFor()
    await look(page, 'today')
    await strip.getByRole('link', { name: /bounced in 24 h/ }).click()
    await page.waitForURL(/\/sent\?.*status=bounced/)
    expect(owner.complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a member without the right to read emails sees nothing of them',
  async () => {
    const access = {
      role: 'member' as const,
      brandIds: [dashboard.mailroom.demo.brand_id as Id<'brd'>],
      permissions: ['inbox:read' as const],
    }
    const { page, open } = await dashboard.openAs({ access })
    await open('')
    await page.getByRole('heading', { name: 'The last 7 days' }).waitFor()
    expect(await page.getByText('Accepted for sending', { exact: true }).count()).toBe(0)
    expect(await page.getByText('brand paused').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Sent' }).count()).toBe(0)
  },
  timeoutMs,
)
