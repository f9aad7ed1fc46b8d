import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Dashboard, expectNoAxeViolations, inAllLooks, startDashboard } from '../harness/dashboard.ts'
import { addPasskeyDevice } from './people.ts'

/** An instance with a public address, where a password alone does not do. */
let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await startDashboard({ MAILROOM_PUBLIC_URL: 'https://mail.example' })
})
afterAll(() => dashboard.stop())

test('an owner without a factor sees only their account, until they add one', async () => {
  const { page, open, complaints } = await dashboard.openAs({ access: { role: 'owner' } })
  await addPasskeyDevice(page)
  await open('/domains')
  await page.waitForURL(/\/app\/account$/)
  await page.getByText('Add a passkey or an authenticator to go on').waitFor()
  await inAllLooks(page, 'account-needs-factor', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  const refused = await page.evaluate(async organization => {
    const headers = { 'Mailroom-Organization': organization }
    return (await fetch('/app/api/v1/domains', { headers })).text()
  }, dashboard.mailroom.demo.organization_id)
  expect(JSON.parse(refused).error.code).toBe('factor_required')

  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('You can sign in again from now on').waitFor()
  await page.getByRole('link', { name: 'Go on' }).click()
  await page.waitForURL(/\/app\/org_/)
  expect(complaints).toEqual([])
})
