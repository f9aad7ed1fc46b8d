import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Dashboard, expectNoAxeViolations, inAllLooks, startDashboard } from '../harness/dashboard.ts'
import { addPasskeyDevice, newLinkPath, newOwner, password, setPassword, typePassword } from './people.ts'

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await startDashboard()
})
afterAll(() => dashboard.stop())

test('a first owner follows the link, adds a passkey, and signs in with it the next time', async () => {
  const owner = await newOwner(dashboard)
  const { page, open, complaints } = await dashboard.openAsVisitor()
  await addPasskeyDevice(page)
  await open(await newLinkPath(dashboard, owner.id))
  await page.getByLabel('Your name').waitFor()
  await inAllLooks(page, 'welcome', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByLabel('Your name').fill('Mia Moss-Lee')
  await page.getByRole('button', { name: 'Create my account' }).click()

  await page.getByText('Choose how you will sign in').waitFor()
  await inAllLooks(page, 'account-new', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop')
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('The passkey was added.').waitFor()
  await page.getByRole('cell', { name: 'Laptop' }).waitFor()
  expect(await page.getByText('Choose how you will sign in').count()).toBe(0)

  expect(await page.getByText(/^only at /).count()).toBe(0)
  const { db } = dashboard.mailroom.database
  const setHost = (before: string, host: string) =>
    db.updateTable('passkeys').set({ host }).where('host', '=', before).execute()
  await setHost('localhost', 'mail.example')
  await open('/app/account')
  await page.getByRole('cell', { name: 'Laptop only at mail.example' }).waitFor()
  await inAllLooks(page, 'account-passkey', expectNoAxeViolations)
  await setHost('mail.example', 'localhost')

  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await inAllLooks(page, 'sign-in', expectNoAxeViolations)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(/\/app\/org_/)
  expect(complaints).toEqual([])
})

test('with a password and an authenticator, a code is asked for, and a backup code will do', async () => {
  const owner = await newOwner(dashboard)
  const { page, open, complaints } = await dashboard.openAsVisitor()
  await open(await newLinkPath(dashboard, owner.id))
  await page.getByRole('button', { name: 'Create my account' }).click()
  await setPassword(page)
  await page.getByRole('button', { name: 'Set up an authenticator' }).click()
  await page.getByRole('img', { name: 'QR code of the secret' }).waitFor()
  await inAllLooks(page, 'account-authenticator', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  const secret = (await page.locator('dialog code').first().textContent()) ?? ''
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  await page.getByRole('textbox', { name: 'Code' }).fill('000000')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('The code is not the one that the authenticator should show now').waitFor()
  await page.getByRole('textbox', { name: 'Code' }).fill(await codeOf(secret))
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('An authenticator is set up.').waitFor()

  await page.getByRole('button', { name: 'Make ten codes' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make ten codes' }).click()
  await page.getByRole('heading', { name: 'Your backup codes' }).waitFor()
  await inAllLooks(page, 'account-codes', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })
  const codes = ((await page.locator('dialog pre').textContent()) ?? '').split('\n')
  expect(codes).toHaveLength(10)
  await page.getByRole('button', { name: 'I have stored them' }).click()
  await page.getByText('10 are left.').waitFor()
  await inAllLooks(page, 'account', expectNoAxeViolations)
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.context().clearCookies()
  await open('/app/sign-in')
  await typePassword(page, owner.email, 'not the password')
  await page.getByText('The email or the password is wrong.').waitFor()
  await page.getByLabel('Password').fill(password)
  await Bun.sleep(1100)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('textbox', { name: 'Code' }).waitFor()
  await inAllLooks(page, 'sign-in-code', expectNoAxeViolations)
  await page.getByRole('textbox', { name: 'Code' }).fill(codes[3] ?? '')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/app\/org_/)
  expect(complaints).toEqual([])
})

/** A code of the next half minute: the one of this was taken by nobody, but the server takes each step once. */
async function codeOf(secret: string): Promise<string> {
  const { generate } = await import('otplib')
  return generate({ secret })
}

test('a link that was used, has expired or was never made says so in a sentence', async () => {
  const { page, open } = await dashboard.openAsVisitor()
  const used = await newLinkPath(dashboard, (await newOwner(dashboard)).id)
  await open(used)
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.getByText('Choose how you will sign in').waitFor()
  const expired = await newLinkPath(dashboard, (await newOwner(dashboard)).id)
  const { db } = dashboard.mailroom.database
  const token = expired.slice(expired.indexOf('#') + 1)
  await db
    .updateTable('login_links')
    .set({ expires_at: '2020-01-01 00:00:00.000000' as never })
    .where('token_hash', '=', new Bun.CryptoHasher('sha256').update(token).digest() as Buffer)
    .execute()
  const sentences = [
    [used, 'This link was used;'],
    [expired, 'This link has expired;'],
    [`/app/welcome#${'A'.repeat(43)}`, 'This link is not known here.'],
    ['/app/welcome', 'The link is not complete'],
  ] as const
  for (const [path, sentence] of sentences) {
    const window = await dashboard.openAsVisitor()
    await window.open(path)
    await window.page.getByText(sentence).waitFor()
    if (path === used) await inAllLooks(window.page, 'welcome-closed', expectNoAxeViolations)
    await window.context.close()
  }
})
