import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'
import { makeDomain } from '../sending/fixtures.ts'

/** What a member of one brand sees, where the organization has another brand with a domain and an email of its own. */
let dashboard: Dashboard
let other: { readonly brandId: string; readonly domainId: string }
const subject = 'Of the first brand'

beforeAll(async () => {
  dashboard = await startDashboard()
  const { mailroom } = dashboard
  other = await makeDomain(mailroom.database.db, mailroom.demo.organization_id, 'other.test')
  const email = { from: 'hello@demo.test', to: 'reader@friend.example', subject, text: 'Hello' }
  expect((await mailroom.api('POST', '/v1/emails', email)).status).toBe(202)
}, 60_000)

afterAll(() => dashboard?.stop())

function openAsMemberOf(brandId: string) {
  const permissions = ['email:read', 'inbox:read', 'domains:read'] as const
  return dashboard.openAs({ access: { role: 'member', brandIds: [brandId], permissions } })
}

test('a member of a brand sees its domains and emails, and those of no other', async () => {
  const first = await openAsMemberOf(dashboard.mailroom.demo.brand_id)
  await first.open('/domains')
  await first.page.getByRole('link', { name: 'demo.test' }).waitFor()
  expect(await first.page.getByText('other.test').count()).toBe(0)
  await first.open('/sent')
  await first.page.getByText(subject).waitFor()

  const second = await openAsMemberOf(other.brandId)
  await second.open('/domains')
  await second.page.getByRole('link', { name: 'other.test' }).waitFor()
  expect(await second.page.getByText('demo.test').count()).toBe(0)
  await second.open('/sent')
  await second.page.getByText('Nothing sent yet').waitFor()
  expect(await second.page.getByText(subject).count()).toBe(0)
}, 60_000)

test('a domain of another brand is refused by its address, as the API refuses it', async () => {
  const { page, open } = await openAsMemberOf(dashboard.mailroom.demo.brand_id)
  await open(`/domains/${other.domainId}`)
  await page.getByRole('alert').first().waitFor()
  expect(await page.getByText('other.test').count()).toBe(0)
}, 60_000)

test('what belongs to the organization as a whole is absent', async () => {
  const { page, open } = await openAsMemberOf(dashboard.mailroom.demo.brand_id)
  await open('/sent')
  const navigation = page.getByRole('navigation').first()
  await navigation.getByRole('link', { name: 'Sent' }).waitFor()
  for (const name of ['People', 'Templates', 'Suppressions'])
    expect(await navigation.getByRole('link', { name }).count()).toBe(0)
}, 60_000)
