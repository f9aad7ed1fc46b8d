import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { plusMs, systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../harness/accepted-emails.ts'
import { runCommand } from '../harness/cli.ts'
import {
  type Dashboard,
  type DashboardWindow,
  expectNoAxeViolations,
  inAllLooks,
  startDashboard,
} from '../harness/dashboard.ts'
import { infectedBytes, multipart } from '../harness/inbox.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'
import { keepMine, takeTheirs } from './conflict.ts'

/** The operators' house, in a real browser on a real Mailroom. */
let dashboard: Dashboard
let folder: string
let shop: SendingDomain
let window: DashboardWindow

const db = () => dashboard.mailroom.database.db

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-instance-backups-'))
  dashboard = await startDashboard({ MAILROOM_BACKUP_FOLDER: folder })
  const now = systemClock.now()
  shop = await createSendingDomain(db(), now)
  await runCommand(['backup', folder], dashboard.mailroom.settings)
  window = await dashboard.openAs({ email: 'olga@example.com', isOperator: true })
}, 90_000)

afterAll(async () => {
  await dashboard.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Shows the screen in all looks, with axe-core, and wide again. */
async function look(name: string): Promise<void> {
  await inAllLooks(window.page, name, expectNoAxeViolations)
  await window.page.setViewportSize({ width: 1280, height: 800 })
}

/** Emails that wait: scheduled for tomorrow, so that no relay takes them. */
async function queueEmails(to: readonly string[]): Promise<readonly Id<'eml'>[]> {
  const now = systemClock.now()
  const blobs = mysqlBlobs(db(), systemClock)
  const ids = await insertAcceptedEmails(
    db(),
    blobs,
    shop,
    now,
    to.map(address => ({ to: [address] })),
  )
  await db()
    .updateTable('outbox')
    .set({ due_at: plusMs(now, 3_600_000) })
    .where('email_id', 'in', ids)
    .execute()
  return ids
}

test('the house is not there for who is no operator', async () => {
  const { page, open } = await dashboard.openAs({})
  await open('/app/instance/queue')
  await page.getByText('There is nothing here').waitFor()
}, 30_000)

test('holds and cancels what a filter selects, after saying how many', async () => {
  const { page, open } = window
  await queueEmails(['a@x.test', 'b@x.test', 'c@y.test'])
  await open('/app/instance/queue?domain=x.test')
  await page.getByText('b@x.test').first().waitFor()
  expect(await page.getByText('c@y.test').count()).toBe(0)
  await page.getByRole('button', { name: 'Act on all of these' }).click()
  await page.getByRole('menuitem', { name: 'Hold' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hold 2 recipients?' })
  await dialog.getByLabel('Reason').fill('they asked us to')
  await dialog.getByRole('button', { name: 'Hold' }).click()
  await page.getByText('2 recipients held').waitFor()
  await page.locator('[title="held: they asked us to"]').first().waitFor()

  await page.getByRole('button', { name: 'Actions for a@x.test' }).first().click()
  await page.getByRole('menuitem', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Cancel 1 recipient?' }).getByRole('button', { name: 'Cancel' }).last().click()
  await page.getByText('1 recipient canceled').waitFor()
  await look('instance-queue-full')
}, 60_000)

test('releases an infected message after a warning', async () => {
  const { page, open } = window
  const attachment = { contentType: 'application/zip', disposition: 'attachment; filename=a.com', bytes: infectedBytes }
  const message = multipart([attachment], ['Subject: Invoice'])
  await sendMail(dashboard.mailroom.smtp, message, { to: ['hello@demo.test'] })
  await open('/app/instance/quarantine')
  await page.getByRole('button', { name: 'Invoice' }).first().click()
  await page.getByRole('dialog', { name: 'Invoice' }).getByText('Content-Type').first().waitFor()
  await look('instance-quarantined')
  await page.getByRole('button', { name: 'Release', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Release 1 message?' })
  await dialog.getByText('infected').waitFor()
  await dialog.getByRole('button', { name: 'Release' }).click()
  await page.getByText('1 message released').waitFor()
  await page.getByText('The quarantine is empty').waitFor()
}, 60_000)

test('creates an organization and shows the link of its owner once', async () => {
  const { page, open } = window
  await open('/app/instance/organizations')
  await page.getByRole('button', { name: 'New organization' }).click()
  const dialog = page.getByRole('dialog', { name: 'New organization' })
  await dialog.getByLabel('Name').fill('Acme')
  await dialog.getByLabel('Email of its first owner').fill('ann@acme.test')
  await dialog.getByRole('button', { name: 'New organization' }).click()
  const created = page.getByRole('dialog', { name: 'The organization is there' })
  expect(await created.getByText('/app/welcome#').textContent()).toMatch(
    /^http:\/\/localhost:\d+\/app\/welcome#\S{40,}$/,
  )
  await created.getByRole('button', { name: 'Done' }).click()
  await page.getByText('Acme').first().waitFor()
  expect(await page.getByText('/app/welcome#').count()).toBe(0)
}, 60_000)

test('of two operators who change a plan or a retention time, the later sees it, and decides', async () => {
  const { page, open } = window
  const other = await dashboard.openAs({ email: 'otto@example.com', isOperator: true })
  await other.open('/app/instance/organizations')
  await open('/app/instance/organizations')
  const move = async (at: Page, plan: string) => {
    await at.getByRole('button', { name: /Acme/ }).click()
    await at.getByRole('menuitem', { name: `Move to ${plan}` }).click()
    await at
      .getByRole('dialog')
      .getByRole('button', { name: `Move to ${plan}` })
      .waitFor()
  }
  const confirm = (at: Page, name: string) => at.getByRole('dialog').getByRole('button', { name }).click()
  const isClosed = (at: Page) => at.getByRole('dialog').waitFor({ state: 'detached' })
  const row = page.getByRole('row', { name: /Acme/ })
  await move(page, 'paid')
  await move(other.page, 'free')
  await confirm(other.page, 'Move to free')
  await isClosed(other.page)
  await confirm(page, 'Move to paid')
  await confirm(page, 'Leave it as it is')
  await row.getByText('free', { exact: true }).waitFor()
  await move(page, 'paid')
  await move(other.page, 'unlimited')
  await confirm(other.page, 'Move to unlimited')
  await isClosed(other.page)
  await confirm(page, 'Move to paid')
  await confirm(page, 'Move it all the same')
  await row.getByText('paid', { exact: true }).waitFor()

  const setDays = async (at: Page, count: string) => {
    await at.getByRole('button', { name: 'Change how long spam is kept' }).click()
    await at.getByRole('dialog').getByRole('combobox').selectOption('days')
    await at.getByRole('dialog').getByLabel('Days').fill(count)
  }
  await open('/app/instance/storage')
  await other.open('/app/instance/storage')
  await setDays(page, '41')
  await setDays(other.page, '42')
  await confirm(other.page, 'Save')
  await isClosed(other.page)
  await confirm(page, 'Save')
  await takeTheirs(page)
  const days = page.getByRole('dialog').getByLabel('Days')
  await until(async () => (await days.inputValue()) === '42', { what: 'the days that were set are shown' })
  await days.fill('43')
  await setDays(other.page, '44')
  await confirm(other.page, 'Save')
  await isClosed(other.page)
  await confirm(page, 'Save')
  await keepMine(page)
  await page.getByRole('row', { name: /spam/ }).getByText('43 days').waitFor()
}, 90_000)

test('verifies a backup, which goes on while the page is left', async () => {
  const { page, open } = window
  await open('/app/instance/backups')
  await page.getByText('not proven').first().waitFor()
  await page
    .getByRole('button', { name: /^Verify 20/ })
    .first()
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click()
  await page.getByText('You can leave this page.').waitFor()
  await page.getByRole('link', { name: 'Audit log' }).first().click()
  await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
  await page.getByText('backup.verify').first().waitFor({ state: 'attached' })
  await page.getByRole('link', { name: 'Backups' }).first().click()
  await page.getByText(/is whole/).waitFor({ timeout: 30_000 })
  await look('instance-backups-proven')
}, 90_000)
