import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  type Dashboard,
  type DashboardWindow,
  expectNoAxeViolations,
  inAllLooks,
  startDashboard,
} from '../../harness/dashboard.ts'
import { infectedBytes } from '../../harness/inbox.ts'
import { deliver, type Letter } from './letters.ts'

let dashboard: Dashboard
let owner: DashboardWindow
let page: Page
beforeAll(async () => {
  dashboard = await startDashboard()
  owner = await dashboard.openAs({})
  page = owner.page
}, 120_000)
afterAll(() => dashboard.stop())

const encoded = (text: string) => `=?utf-8?b?${Buffer.from(text).toString('base64')}?=`
const withFile = (name: string, bytes: Buffer): Letter => ({
  subject: `A file called ${name}`,
  fields: ['Content-Type: multipart/mixed; boundary=b'],
  body: [
    '--b\r\nContent-Type: text/plain\r\n\r\nSee the file.',
    `--b\r\nContent-Type: application/pdf; name=${name}\r\nContent-Disposition: attachment; filename=${name}`,
    `Content-Transfer-Encoding: base64\r\n\r\n${bytes.toString('base64')}\r\n--b--\r\n`,
  ].join('\r\n'),
})
const html: Letter = {
  from: 'Shop <shop@sender.example>',
  subject: 'Your order has shipped',
  fields: ['Content-Type: multipart/alternative; boundary=b'],
  body: [
    '--b\r\nContent-Type: text/plain\r\n\r\nShipped: order 4711.',
    '--b\r\nContent-Type: text/html\r\n\r\n<h1 style="color:#0a7">Shipped</h1><p>Your order 4711 is on its way.</p><p><a href="https://shop.example/track">Track it</a></p>\r\n--b--\r\n',
  ].join('\r\n'),
}

const rightToLeft = 'שלום, מה שלומך?'
const hostile: readonly Letter[] = [
  {
    from: encoded('<img src=x onerror=alert(1)>').concat(' <a@sender.example>'),
    subject: '<script>alert(1)</script><b>bold</b>',
  },
  { from: `${encoded('דוד לוי')} <david@sender.example>`, subject: encoded(rightToLeft) },
  { subject: encoded('invoice\u202Efdp.exe\u0007\u200b') },
  { subject: `${'long '.repeat(190)}` },
  { subject: 'x'.repeat(980) },
  {},
]

test('hostile subjects and names are drawn as text, and disguise nothing', async () => {
  await deliver(dashboard.mailroom, hostile)
  await owner.open('/mail/inbox')
  await page.getByText('<script>alert(1)</script><b>bold</b>').waitFor()
  await page.getByText('<img src=x onerror=alert(1)>', { exact: true }).waitFor()
  await page.getByText('invoice[U+202E]fdp.exe').waitFor()
  await page.getByText('(no subject)').waitFor()
  expect(await page.locator('main b, main img').count()).toBe(0)
  const overflow = () =>
    page
      .locator('html')
      .evaluate((root: { scrollWidth: number; clientWidth: number }) => root.scrollWidth - root.clientWidth)
  await inAllLooks(page, 'mail-hostile', async shown => {
    expect(await overflow()).toBe(0)
    await expectNoAxeViolations(shown)
  })
  for (const subject of [rightToLeft, 'x'.repeat(200)]) {
    await page.setViewportSize({ width: 360, height: 800 })
    await page.getByRole('link').filter({ hasText: subject }).click()
    await page.getByRole('heading', { level: 1 }).filter({ hasText: subject }).waitFor()
    expect(await overflow()).toBe(0)
    await page.keyboard.press('Escape')
  }
  await page.setViewportSize({ width: 1280, height: 800 })
}, 60_000)

test('an infected attachment is not offered, and asked for, the page says what the API does', async () => {
  const [id = ''] = await deliver(dashboard.mailroom, [withFile('virus.pdf', infectedBytes)])
  await owner.open('/mail/quarantine')
  await page.getByRole('link').filter({ hasText: 'virus.pdf' }).click()
  await page.getByRole('img', { name: 'Infected' }).last().waitFor()
  expect(await page.locator(`a[href*="${id}/attachments"]`).count()).toBe(0)
  await page.getByRole('button', { name: 'Download' }).click()
  await page.getByRole('alert').filter({ hasText: 'The virus scanner found something' }).waitFor()
  await page.getByText('Details · Why it is here').click()
  await page.getByText('The virus scanner found something in it. It cannot be downloaded').waitFor()
  await inAllLooks(page, 'mail-infected', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Show raw message' }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  expect(await page.getByRole('dialog').getByRole('link').count()).toBe(0)
}, 60_000)

test('a message with its headers, its raw form, a file and both views', async () => {
  const [file = '', shipped = ''] = await deliver(dashboard.mailroom, [
    withFile('report.pdf', Buffer.from('%PDF-1.4')),
    html,
  ])
  await owner.open(`/mail/m/${file}`)
  const link = page.locator('a[download]').filter({ hasText: 'report.pdf' })
  const download = page.waitForEvent('download')
  await link.click()
  expect((await download).suggestedFilename()).toBe('report.pdf')
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Show headers' }).click()
  await page.getByRole('dialog').getByText('multipart/mixed; boundary=b').waitFor()
  await inAllLooks(page, 'mail-headers', expectNoAxeViolations)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Show raw message' }).click()
  await page.getByRole('dialog').getByText('Content-Disposition: attachment; filename=report.pdf').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('r')
  await page.getByLabel('Your text').waitFor()
  await inAllLooks(page, 'mail-reply', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  await owner.open(`/mail/m/${shipped}`)
  await page.frameLocator('iframe').getByRole('heading', { name: 'Shipped' }).waitFor()
  await inAllLooks(page, 'mail-html', expectNoAxeViolations)
  await page.getByText('Text only').click()
  await page.getByText('Shipped: order 4711.').last().waitFor()
}, 90_000)

test('the list, the form and the drafts', async () => {
  await page.setViewportSize({ width: 1280, height: 800 })
  await owner.open('/mail/spam')
  await page.getByText('No spam').waitFor()
  await inAllLooks(page, 'mail-empty', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  await owner.open('/mail/inbox')
  await page.getByRole('checkbox').first().check()
  await page.getByText('8 selected').waitFor()
  await inAllLooks(page, 'mail-ticked', expectNoAxeViolations)
  await owner.open('/mail/compose')
  await page.getByLabel('Name before the @').waitFor()
  await page.getByRole('textbox', { name: 'To' }).fill('ann@x.example, "Lee, Ben" <ben@x.example>, wrong')
  await page.getByLabel('Subject').fill('Hello')
  await page.getByLabel('Text').fill('Hello all,\n\nhow are you?')
  await page
    .getByRole('status')
    .filter({ hasText: /^Saved$/ })
    .waitFor()
  await inAllLooks(page, 'mail-compose', expectNoAxeViolations)
  await owner.open('/drafts')
  await page.getByRole('link').filter({ hasText: 'Hello' }).waitFor()
  await inAllLooks(page, 'mail-drafts', expectNoAxeViolations)
}, 90_000)

test('nothing was complained of', () => {
  expect(owner.complaints).toEqual([])
})
