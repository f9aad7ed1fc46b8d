import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { startBrowser } from '../../../harness/browser.ts'
import { openTestHttpServer, type TestHttpServer } from '../../../harness/http-server.ts'

let server: TestHttpServer
let browser: Browser

beforeAll(async () => {
  ;[server, browser] = await Promise.all([openTestHttpServer(), startBrowser()])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

test('shows the API in a browser, without requests to other servers or violations of its policy', async () => {
  const page = await browser.newPage()
  const requested: string[] = []
  const errors: string[] = []
  page.on('request', request => requested.push(request.url()))
  page.on('console', message => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', error => errors.push(error.message))
  await page.goto(`${server.url}/docs`)
  const operation = page.locator('#operations-Brands-createBrand')
  await operation.waitFor()
  await operation.locator('button').first().click()
  await operation.getByText('slug_taken').first().waitFor()
  expect(await operation.textContent()).toContain('Needs the scope brands:write.')
  expect(requested.filter(url => !url.startsWith(`${server.url}/`) && !url.startsWith('data:'))).toEqual([])
  expect(requested).toContain(`${server.url}/openapi.json`)
  expect(errors).toEqual([])
}, 60_000)

test('sends requests to the API with the key that was entered', async () => {
  const page = await browser.newPage()
  await page.goto(`${server.url}/docs`)
  await page.locator('button.authorize').first().click()
  await page.locator('.auth-container input').fill(server.key)
  await page.locator('.auth-container button[type=submit]').click()
  await page.locator('.auth-container button.btn-done').click()
  const operation = page.locator('#operations-Brands-listBrands')
  await operation.locator('button').first().click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  const answered = page.waitForResponse(`${server.url}/v1/brands`)
  await operation.getByRole('button', { name: 'Execute' }).click()
  expect((await answered).status()).toBe(200)
}, 60_000)
