import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type Dashboard, startDashboard } from '../../harness/dashboard.ts'
import { endSessions, openWithPassword, typePassword } from '../people.ts'
import { deliver } from './letters.ts'

/** What a person leaves in a browser that others may sit down at. */
let dashboard: Dashboard
let messageId: string

beforeAll(async () => {
  dashboard = await startDashboard()
  const [id = ''] = await deliver(dashboard.mailroom, [{ subject: 'The plan' }])
  messageId = id
}, 60_000)
afterAll(() => dashboard?.stop())

interface Storages {
  readonly localStorage: Readonly<Record<string, string>>
  readonly sessionStorage: Readonly<Record<string, string>>
}

const stored = (page: Page) =>
  page.evaluate(() => {
    const { localStorage, sessionStorage } = globalThis as unknown as Storages
    return JSON.stringify([{ ...localStorage }, { ...sessionStorage }])
  })

/** Types an answer to the message, and a sender's name, which stay in the browser until they are sent. */
async function leaveText(page: Page, open: (path: string) => Promise<void>): Promise<void> {
  await open('/mail/compose')
  await page.getByLabel('Your name, as recipients see it').fill('Nora North')
  await open(`/mail/m/${messageId}`)
  await page.getByRole('heading', { level: 1, name: 'The plan' }).waitFor()
  await page.keyboard.press('r')
  await page.getByLabel('Your text').fill('Between us: no.')
  expect(await stored(page)).toContain('Between us: no.')
  expect(await stored(page)).toContain('Nora North')
}

async function chooseDark(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menu').getByText('Dark', { exact: true }).click()
}

test('signing out leaves nothing of the person, but how the page looks', async () => {
  const { page, open, complaints } = await openWithPassword(dashboard, { email: 'nora@people.test' })
  await leaveText(page, open)
  await chooseDark(page)
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menu').getByText('Sign out', { exact: true }).click()
  await page.waitForURL(/\/app\/sign-in/)
  await page.getByRole('heading', { level: 1 }).waitFor()
  const [local, ofWindow] = JSON.parse(await stored(page))
  expect(local).toEqual({ 'mailroom-theme': 'dark' })
  // The router's, by keys that say nothing.
  expect(Object.keys(ofWindow)).toEqual([expect.stringContaining('scroll-restoration')])
  expect(JSON.stringify(ofWindow)).not.toMatch(/nora|msg_|org_|plan/i)
  expect(complaints).toEqual([])
}, 60_000)

test('after a session that ended its person finds the text again, and nobody else does', async () => {
  const [email, other] = ['olga@people.test', 'otto@people.test']
  const { page, open, complaints } = await openWithPassword(dashboard, { email })
  await (await openWithPassword(dashboard, { email: other })).context.close()
  await leaveText(page, open)
  const signInAs = async (someone: string) => {
    await open(`/mail/m/${messageId}`)
    await typePassword(page, someone)
    await page.getByRole('heading', { level: 1, name: 'The plan' }).waitFor()
    await page.keyboard.press('r')
    return page.getByLabel('Your text').inputValue()
  }
  await endSessions(dashboard, email)
  expect(await signInAs(email)).toBe('Between us: no.')
  await endSessions(dashboard, email)
  expect(await signInAs(other)).toBe('')
  expect(await stored(page)).not.toContain('Between us')
  expect(await stored(page)).not.toContain('Nora North')
  expect(complaints).toEqual([])
}, 60_000)
