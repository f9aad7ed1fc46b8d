import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { permissions } from '../../src/accounts/keys/permissions.ts'
import { systemClock } from '../../src/base/clock.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { suppress } from '../../src/sending/suppressions/suppress.ts'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'
import { look } from './look.ts'

let dashboard: Dashboard
const timeoutMs = 120_000

beforeAll(async () => {
  dashboard = await startDashboard()
}, timeoutMs)
afterAll(() => dashboard?.stop())

const listed = async () => {
  const { db } = dashboard.mailroom.database
  return (await db.selectFrom('suppressions').select('email').orderBy('email').execute()).map(({ email }) => email)
}

async function bounce(email: string, evidence: string): Promise<void> {
  const { demo, database } = dashboard.mailroom
  const key = { organizationId: demo.organization_id as Id<'org'>, brandId: demo.brand_id as Id<'brd'>, email }
  await inTransaction(database.db, tx => suppress(tx, { ...key, reason: 'hard_bounce', evidence }, systemClock.now()))
}

test(
  'a file is imported after a dry run that changes nothing, and downloaded again',
  async () => {
    const { page, open, complaints } = await dashboard.openAs({ name: 'Olivia Park' })
    await open('/suppressions')
    await page.getByRole('heading', { name: 'Nothing is suppressed' }).waitFor()
    await look(page, 'suppressions-empty')
    await page.getByRole('button', { name: 'Import a file' }).click()
    const good = Array.from({ length: 1200 }, (_, i) => `person${String(i).padStart(4, '0')}@x.test,complaint`)
    const text = ['email,reason', ...good, 'not an address,', 'x@x.test,annoyed'].join('\n')
    const file = { name: 'old-service.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
    await page.getByLabel('File').setInputFiles(file)
    await look(page, 'suppressions-import')
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByText('1,200 addresses would be added').waitFor()
    await page.getByText('Line 1,202').waitFor()
    await look(page, 'suppressions-dry-run')
    expect(await listed()).toEqual([])
    await page.getByRole('button', { name: 'Import 1,200 addresses' }).click()
    await page.getByText('1,200 addresses were added').waitFor()
    expect((await listed()).length).toBe(1200)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('person1199@x.test').first().waitFor()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download as CSV' }).click(),
    ])
    expect(
      readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\r\n'),
    ).toHaveLength(1201)
    await dashboard.mailroom.database.db.deleteFrom('suppressions').execute()
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'an address is added, checked and removed',
  async () => {
    const { page, open } = await dashboard.openAs({ name: 'Olivia Park' })
    await open('/suppressions')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByLabel('Address', { exact: true }).fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    await page.getByText(/email: "nobody" is not one address/).waitFor()
    await look(page, 'suppressions-add')
    await page.getByLabel('Address', { exact: true }).fill('Zoe@X.test')
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    const row = page.getByRole('row', { name: /zoe@x\.test/ })
    await row.waitFor()
    await page.getByLabel('Address to check').fill('zoe@x.test')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('zoe@x.test is suppressed: added by hand.').waitFor()
    await row.getByRole('button', { name: 'Actions for zoe@x.test' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('zoe@x.test is not suppressed').waitFor()
  },
  timeoutMs,
)

test(
  'an incident is undone by the text of the reply, after it was shown',
  async () => {
    await bounce('ann@x.test', '550 5.1.1 <ann@x.test>: Recipient address rejected: relay misconfigured')
    await bounce('بريد@x.test', '550 5.1.1 relay misconfigured')
    await bounce('gone@x.test', '550 5.1.1 no such user here')
    const { page, open } = await dashboard.openAs({ name: 'Olivia Park' })
    await open('/suppressions')
    await page.getByText('gone@x.test').first().waitFor()
    await look(page, 'suppressions')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Undo an incident' }).click()
    await page.getByLabel('The reply or report contains').fill('Relay misconfigured')
    await look(page, 'suppressions-undo')
    await page.getByRole('button', { name: 'See which' }).click()
    await page.getByText('2 suppressions of 3 would be undone.').waitFor()
    await look(page, 'suppressions-undo-found')
    await page.getByRole('button', { name: 'Undo 2 suppressions' }).click()
    await page.getByText('2 suppressions are undone.').waitFor()
    expect(await listed()).toEqual(['gone@x.test'])
  },
  timeoutMs,
)

test(
  'whoever may only read finds nothing to change',
  async () => {
    const brandIds = [dashboard.mailroom.demo.brand_id]
    const granted = permissions.filter(permission => permission === 'suppressions:read')
    const { page, open } = await dashboard.openAs({ access: { role: 'member', brandIds, permissions: granted } })
    await open('/suppressions')
    await page.getByText('gone@x.test').first().waitFor()
    expect(await page.getByRole('button', { name: 'Add' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Actions for gone@x.test' }).count()).toBe(0)
  },
  timeoutMs,
)
