import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createOrganization } from '../../src/accounts/organizations/organizations.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { localZone } from '../../src/ports/dns-zone/local/local.ts'
import type { ZoneRecord } from '../../src/ports/dns-zone/port.ts'
import { type Dashboard, expectNoAxeViolations, inAllLooks, startDashboard } from '../harness/dashboard.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { until } from '../harness/until.ts'
import { keepMine, takeTheirs } from './conflict.ts'

/** The screens of domains and mailboxes, with the local zone in place of a DNS host for names below `.test`. */
let dashboard: Dashboard
/** The server for all other names. */
let dns: TestDns

beforeAll(async () => {
  dns = await startDns()
  const settings = { MAILROOM_RESOLVERS: `127.0.0.1:${dns.endpoint.port}`, MAILROOM_DNS_TIMEOUT_MS: '300' }
  dashboard = await startDashboard(settings)
})

afterAll(async () => {
  await dashboard.stop()
  await dns.close()
})

/** What a person does at their DNS host. */
async function publish(domain: string, record: Pick<ZoneRecord, 'type' | 'name' | 'value'> & { priority?: number }) {
  const zone = await localZone(dashboard.mailroom.database.db, systemClock).findZone(domain)
  await zone?.create({ ttlSeconds: 300, priority: null, ...record }, null)
}

/** The name and the value that the card of a record wants. */
async function wantedOf(page: Page, purpose: string): Promise<{ name: string; value: string }> {
  const card = page.getByRole('listitem').filter({ has: page.getByText(purpose, { exact: true }) })
  const [name = '', value = ''] = await card.last().locator('code').allTextContents()
  return { name, value }
}

test('an owner adds a domain, which sends and receives at the end, without loading the page again', async () => {
  const { page, open, complaints } = await dashboard.openAs({})
  await open('/domains')
  await page.evaluate('globalThis.isSamePage = true')
  await page.getByRole('link', { name: 'Add a domain' }).click()
  await page.getByLabel('Domain name').fill('not a domain')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('is not a domain name').waitFor()
  await page.getByLabel('Domain name').fill('Shop.test')
  await page.keyboard.press('Enter')

  await page.getByRole('button', { name: 'I have added it: check now' }).click()
  await page.getByRole('alert').getByText('_mailroom.shop.test').first().waitFor()
  await inAllLooks(page, 'domain-proof', expectNoAxeViolations)
  const ownership = await wantedOf(page, 'Ownership')
  expect(ownership).toEqual({ name: '_mailroom.shop.test', value: expect.stringMatching(/^mailroom-ownership=\w+$/) })
  await publish('shop.test', { type: 'TXT', ...ownership })
  await page.getByRole('button', { name: 'I have added it: check now' }).click()

  await page.getByRole('heading', { name: 'shop.test' }).waitFor()
  await page.getByText('Mail from this domain is signed').waitFor()
  await page.getByRole('button', { name: 'Set up receiving' }).click()
  await page.getByRole('button', { name: /^Publish in/ }).click()
  await page.getByRole('button', { name: 'Check receiving' }).click()
  await page.getByText('Last, the MX record').waitFor()
  const [priority = '', value = ''] = (await wantedOf(page, 'MX')).value.split(' ')
  // A check that is still under way would see the record, and the button would go.
  const check = page.getByRole('button', { name: 'Check receiving', disabled: false })
  await check.waitFor()
  await publish('shop.test', { type: 'MX', name: 'shop.test', value, priority: Number(priority) })
  await check.click()
  await page.getByText('Mail for this domain comes here.').waitFor()
  await inAllLooks(page, 'domain-live', expectNoAxeViolations)

  await page.getByRole('link', { name: 'All records' }).click()
  await page.getByRole('cell', { name: /_domainkey.shop.test$/ }).waitFor()
  await inAllLooks(page, 'domain-records', expectNoAxeViolations)
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
  expect(new URL(page.url()).href).not.toContain('shop.test')
  expect(complaints).toEqual([])
})

test('a DNS server that does not answer is told from a record that is missing', async () => {
  const name = 'shop.example'
  const { page, open, complaints } = await dashboard.openAs({})
  const card = (purpose: string) =>
    page
      .getByRole('listitem')
      .filter({ has: page.getByText(purpose, { exact: true }) })
      .last()
  const check = page.getByRole('button', { name: 'I have added it: check now' })
  await open('/domains/new')
  await page.getByLabel('Domain name').fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
  await card('Ownership').getByText('missing').waitFor()
  await card('Ownership').getByText('nothing', { exact: true }).waitFor()
  const ownership = await wantedOf(page, 'Ownership')

  dns.zone[ownership.name] = { behaviour: { silent: true } }
  await check.click()
  await card('Ownership').getByText('DNS did not answer').waitFor()
  await card('Ownership').getByText('no answer').waitFor()
  expect(await card('Ownership').getByText('missing').count()).toBe(0)
  await page.getByRole('alert').getByText(ownership.name).first().waitFor()
  await inAllLooks(page, 'domain-silent', expectNoAxeViolations)

  dns.zone[ownership.name] = { TXT: [ownership.value] }
  await check.click()
  await page.getByRole('heading', { name }).waitFor()
  await card('SPF').getByText('missing').waitFor()
  const spf = await wantedOf(page, 'SPF')
  dns.zone[spf.name] = { behaviour: { silent: true } }
  await page.getByRole('button', { name: 'Check now' }).click()
  await card('SPF').getByText('DNS did not answer').waitFor()
  await card('DMARC').getByText('nothing', { exact: true }).waitFor()

  // What was proven stays so while the server is silent.
  dns.zone[ownership.name] = { behaviour: { silent: true } }
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByRole('alert').getByText(ownership.name).first().waitFor()
  await page.getByText('The TXT record was in DNS before').waitFor()
  expect(await page.getByRole('button', { name: 'Set up receiving' }).count()).toBe(1)
  await inAllLooks(page, 'domain-silent-later', expectNoAxeViolations)
  expect(complaints).toEqual([])
}, 90_000)

test('a record is added and changed; of two who change it, the later sees it, and decides', async () => {
  const { api } = dashboard.mailroom
  const { id } = (await api('GET', '/v1/domains')).json.data.find(
    ({ domain }: { domain: string }) => domain === 'shop.test',
  )
  const records = `/v1/domains/${id}/dns/records`
  const { page, open, complaints } = await dashboard.openAs({})
  await open(`/domains/${id}`)
  await page.getByRole('link', { name: 'All records' }).click()
  const dialog = page.getByRole('dialog')
  const save = () => dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Add a record' }).click()
  await dialog.getByLabel('Name').fill('www')
  await dialog.getByLabel('Value').fill('nonsense')
  await save()
  await dialog.getByText('is not a valid A value').waitFor()
  await dialog.getByLabel('Value').fill('192.0.2.1')
  await save()
  const row = page.getByRole('row', { name: /www\.shop\.test/ })
  await row.waitFor()
  const { data } = (await api('GET', records)).json
  const path = `${records}/${data.find(({ name }: { name: string }) => name === 'www.shop.test').id}`

  await row.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await dialog.getByLabel('Value').fill('192.0.2.2')
  await api('PATCH', path, { value: '192.0.2.3', ttl: 900 })
  await save()
  await takeTheirs(page)
  const ttl = async () => await dialog.getByLabel('TTL in seconds').inputValue()
  await until(async () => (await ttl()) === '900', { what: 'the TTL that was saved is shown' })
  await dialog.getByLabel('Value').fill('192.0.2.4')
  await api('PATCH', path, { value: '192.0.2.5' })
  await save()
  await keepMine(page)
  await row.getByText('192.0.2.4').waitFor()
  expect((await api('GET', path)).json).toMatchObject({ value: '192.0.2.4', ttl: 900 })
  expect(complaints).toEqual([])
}, 60_000)

test('a mailbox is created, and a domain with a mailbox says what blocks its deletion', async () => {
  const { page, open, complaints } = await dashboard.openAs({})
  await open('/mailboxes')
  await page.getByRole('button', { name: 'Create a mailbox' }).click()
  await page.getByLabel('Name before the @').fill('sales')
  await page.getByRole('combobox', { name: 'Domain' }).selectOption({ label: '@shop.test' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('cell', { name: 'sales@shop.test', exact: true }).waitFor()
  await inAllLooks(page, 'mailboxes', expectNoAxeViolations)

  await page.setViewportSize({ width: 1280, height: 800 })
  await open('/domains')
  await page.getByRole('link', { name: 'shop.test' }).click()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete the domain' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('button', { name: 'Delete the domain' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Type shop.test to confirm').fill('shop.test')
  await dialog.getByRole('button', { name: 'Delete the domain' }).click()
  await dialog.getByRole('alert').getByText('1 mailbox').waitFor()
  await inAllLooks(page, 'domain-blocked', expectNoAxeViolations)
  expect(complaints).toEqual([])
})

test('an organization without domains is shown how to begin', async () => {
  const { db } = dashboard.mailroom.database
  const { id } = await createOrganization(db, { name: 'Empty', plan: 'unlimited' }, systemClock)
  const { page, open, complaints } = await dashboard.openAs({ organizationId: id as Id<'org'> })
  await open(`/app/${id}/domains`)
  await page.getByRole('heading', { name: 'No domains yet' }).waitFor()
  await inAllLooks(page, 'domains-empty', expectNoAxeViolations)
  expect(complaints).toEqual([])
})

test('a member without domains:write sees the domains and no way to change them', async () => {
  const { demo } = dashboard.mailroom
  const access = { role: 'member', brandIds: [demo.brand_id], permissions: ['domains:read'] } as const
  const { page, open } = await dashboard.openAs({ access })
  await open('/domains')
  await page.getByRole('link', { name: 'demo.test' }).click()
  await page.getByText('Mail for this domain comes here.').waitFor()
  expect(await page.getByRole('button', { name: 'Check now' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0)
})
