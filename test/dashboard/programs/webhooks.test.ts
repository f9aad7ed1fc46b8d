import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { permissions } from '../../../src/accounts/keys/permissions.ts'
import { type Dashboard, type DashboardWindow, expectNoAxeViolations, startDashboard } from '../../harness/dashboard.ts'
import { type PlainReceiver, startPlainReceiver } from '../../harness/plain-receiver.ts'
import { until } from '../../harness/until.ts'
import { look } from '../look.ts'

let dashboard: Dashboard
let receiver: PlainReceiver
let owner: DashboardWindow
const timeoutMs = 120_000

beforeAll(async () => {
  receiver = startPlainReceiver()
  dashboard = await startDashboard({
    MAILROOM_ROLES: 'smtp,http,relay,webhooks',
    MAILROOM_WEBHOOK_ALLOW: '127.0.0.0/8',
    MAILROOM_WEBHOOK_HTTP: 'true',
  })
  owner = await dashboard.openAs({ name: 'Olivia Park' })
}, timeoutMs)
afterAll(async () => {
  await dashboard?.stop()
  await receiver?.stop()
})

const send = (subject: string) =>
  dashboard.mailroom.api('POST', '/v1/emails', {
    from: 'Demo <hello@demo.test>',
    to: 'you@friend.test',
    subject,
    text: 'Hello',
  })

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const chooseFromMenu = async (page: Page, name: string) => {
  await button(page, 'More').click()
  await page.getByRole('menuitem', { name }).click()
}

test(
  'a webhook is made after a refusal that names its rule; its secret is shown once and verifies what comes',
  async () => {
    const { page, open, complaints } = owner
    await open('/webhooks')
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    await look(page, 'webhooks-empty')
    await button(page, 'Create webhook').click()
    await page.getByLabel('Address of the receiver').fill('http://169.254.169.254/latest/meta-data')
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click()
    await dialog(page)
      .getByText(/169\.254\.169\.254\/32/)
      .waitFor()
    await page.getByLabel('Address of the receiver').fill(receiver.url)
    await page.getByRole('radio', { name: 'Sent emails' }).check()
    await page.getByText('Choose one by one').click()
    await page.getByRole('checkbox', { name: 'email.queued' }).uncheck()
    await page.getByText('Description, mailboxes, headers').click()
    await page.getByLabel('Description').fill('Order system')
    await button(page, 'Add a header').click()
    await page.getByLabel('Name of header 1').fill('X-Token')
    await page.getByLabel('Value of header 1').fill('t0ken')
    await look(page, 'webhooks-create')
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('Shown once.').waitFor()
    await expectNoAxeViolations(page)
    const secret = (await dialog(page).locator('code').first().textContent()) ?? ''
    expect(secret).toStartWith('whsec_')
    await button(page, 'Done').click()
    const row = page.getByRole('row', { name: /127\.0\.0\.1/ })
    await row.getByText('active').waitFor()
    expect(await page.content()).not.toContain(secret.slice(6, 30))

    await row.getByRole('link').click()
    await button(page, 'Send a test').click()
    await button(page, 'Send it').click()
    await page.getByText('It answered 204: it works.').waitFor()
    const tested = await receiver.next('webhook.test')
    expect(new Webhook(secret).verify(tested.body, { ...tested.headers })).toMatchObject({ type: 'webhook.test' })
    expect(tested.headers['x-token']).toBe('t0ken')
    await page.keyboard.press('Escape')

    expect((await send('The first')).status).toBe(202)
    await receiver.next('email.sent')
    await page.getByRole('button', { name: 'Details of email.sent' }).first().waitFor()
    expect(receiver.deliveries.some(({ event }) => event.type === 'email.queued')).toBe(false)
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a delivery is sent again, and a span of them after it was counted, with the webhook-id that each had',
  async () => {
    const { page } = owner
    const first = await receiver.next('email.sent')
    await page.getByRole('button', { name: 'Details of email.sent' }).first().click()
    await dialog(page).getByText(first.id).waitFor()
    await expectNoAxeViolations(page)
    let from = receiver.deliveries.length
    await button(page, 'Send again').click()
    expect((await receiver.next('email.sent', from)).id).toBe(first.id)
    await page.keyboard.press('Escape')

    await button(page, 'Replay…').click()
    await page.getByRole('radio', { name: 'All of them' }).check()
    await expectNoAxeViolations(page)
    from = receiver.deliveries.length
    await button(page, 'See how many').click()
    const counted =
      (await dialog(page)
        .getByText(/would be sent again/)
        .textContent()) ?? ''
    expect(receiver.deliveries).toHaveLength(from)
    await dialog(page)
      .getByRole('button', { name: /^Send \d/ })
      .click()
    await page.getByText('They are sent again').waitFor()
    const count = Number.parseInt(counted, 10)
    expect(count).toBeGreaterThan(0)
    await until(() => receiver.deliveries.length >= from + count, { what: `${count} are sent again` })
    expect(receiver.deliveries.slice(from).map(({ id }) => id)).toContain(first.id)
  },
  timeoutMs,
)

test(
  'both secrets sign while one is rotated',
  async () => {
    const { page } = owner
    await chooseFromMenu(page, 'Rotate the secret')
    await page.getByLabel('The old secret works for').selectOption('hour')
    await button(page, 'Rotate').click()
    await page.getByText('Shown once.').waitFor()
    const secret = (await dialog(page).locator('code').first().textContent()) ?? ''
    await button(page, 'Done').click()
    const from = receiver.deliveries.length
    await send('Signed twice')
    const { body, headers } = await receiver.next('email.sent', from)
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(new Webhook(secret).verify(body, { ...headers })).toMatchObject({ type: 'email.sent' })
  },
  timeoutMs,
)

test(
  'what fails says so, and what answers 410 is disabled with its reason, on Today too, and enabled again',
  async () => {
    const { page, open, complaints } = owner
    receiver.answerWith(500)
    await send('It fails')
    await page.getByText(/^Deliveries to it fail since/).waitFor()
    await page
      .getByRole('row', { name: /retrying.*500/ })
      .first()
      .waitFor()
    await look(page, 'webhooks-failing')
    receiver.answerWith(410)
    await send('It is gone')
    await page.getByText('The receiver answered 410 Gone: it wants nothing more.').waitFor()
    expect(await page.getByRole('button', { name: 'Replay…' }).count()).toBe(0)
    await open('/webhooks')
    await page.getByText('it answered 410').first().waitFor()
    await look(page, 'webhooks')
    const lamp = page.getByRole('region', { name: 'Needs attention' }).getByRole('link', { name: /1 webhook disabled/ })
    await until(
      async () => {
        await open('')
        await page.getByRole('heading', { level: 1 }).waitFor()
        return (await lamp.count()) === 1
      },
      { what: 'the lamp is lit', withinMs: 25_000 },
    )
    await lamp.click()
    await page.waitForURL(/\/webhooks/)
    receiver.answerWith(204)
    await page
      .getByRole('row', { name: /disabled/ })
      .getByRole('link')
      .click()
    const from = receiver.deliveries.length
    await button(page, 'Enable').click()
    await page.getByText('active', { exact: true }).waitFor()
    await send('It works again')
    await receiver.next('email.sent', from)
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'it is changed, and deleted',
  async () => {
    const { page } = owner
    await chooseFromMenu(page, 'Edit')
    expect(await page.getByRole('checkbox', { name: 'email.queued' }).isChecked()).toBe(false)
    await page.getByText('Description, mailboxes, headers').click()
    await page.getByLabel('Description').fill('Order system, second shop')
    const { id } = (await dashboard.mailroom.api('GET', '/v1/webhooks')).json.data[0]
    await dashboard.mailroom.api('PATCH', `/v1/webhooks/${id}`, { description: 'Theirs' })
    await button(page, 'Save').click()
    await button(page, 'Keep what I typed').click()
    await page.getByText('Order system, second shop').waitFor()
    const from = receiver.deliveries.length
    await send('After the change')
    expect((await receiver.next('email.sent', from)).headers['x-token']).toBe('t0ken')
    await chooseFromMenu(page, 'Delete')
    await dialog(page).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  },
  timeoutMs,
)

test(
  'whoever may only read finds nothing to change, and whoever may not finds no webhooks',
  async () => {
    const { status, json } = await dashboard.mailroom.api('POST', '/v1/webhooks', {
      url: receiver.url,
      types: ['email.sent'],
      brand_id: dashboard.mailroom.demo.brand_id,
    })
    expect(status).toBe(201)
    const brandIds = [dashboard.mailroom.demo.brand_id]
    const openWith = (granted: readonly string[]) =>
      dashboard.openAs({
        access: { role: 'member', brandIds, permissions: permissions.filter(each => granted.includes(each)) },
      })
    const reader = await openWith(['webhooks:read', 'email:read'])
    await reader.open(`/webhooks/${json.id}`)
    await reader.page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    for (const name of ['Send a test', 'More', 'Replay…']) expect(await button(reader.page, name).count()).toBe(0)
    const other = await openWith(['email:read'])
    await other.open('/events')
    const navigation = other.page.getByRole('navigation').first()
    await navigation.getByRole('link', { name: 'Events' }).waitFor()
    expect(await navigation.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  },
  timeoutMs,
)
