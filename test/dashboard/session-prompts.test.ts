import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createInvitation } from '../../src/accounts/invitations/invitations.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { type Dashboard, expectNoAxeViolations, inAllLooks, startDashboard } from '../harness/dashboard.ts'
import {
  endSessions,
  forgetConfirmation,
  newLinkPath,
  newOwner,
  openWithPassword,
  password,
  typePassword,
  userId,
} from './people.ts'

let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await startDashboard()
})
afterAll(() => dashboard.stop())

const openAsOwner = (email: string) => openWithPassword(dashboard, { email })

const nameField = (page: Page) => page.getByRole('textbox', { name: 'Name' })

test('when the session ended one signs in where one is, and the form goes on', async () => {
  const email = 'ended@people.test'
  const { page, open, complaints } = await openAsOwner(email)
  await open('/app/account')
  await nameField(page).fill('Typed Before')
  await endSessions(dashboard, email)
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.waitFor()
  await inAllLooks(page, 'sign-in-again', expectNoAxeViolations)
  expect(await dialog.getByLabel('Email').inputValue()).toBe(email)
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Your name was changed.').waitFor()
  expect(await nameField(page).inputValue()).toBe('Typed Before')
  const { db } = dashboard.mailroom.database
  const user = await db.selectFrom('users').select('name').where('email', '=', email).executeTakeFirstOrThrow()
  expect(user.name).toBe('Typed Before')
  expect(complaints).toEqual([])
})

test('what needs a confirmation asks for it in place, then goes on', async () => {
  const email = 'confirm@people.test'
  const { page, open, complaints } = await openAsOwner(email)
  await forgetConfirmation(dashboard, email)
  await open('/app/account')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByLabel('New password').fill('nine silent maps wander')
  await page.getByRole('dialog').getByRole('button', { name: 'Change the password' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.waitFor()
  await inAllLooks(page, 'confirm', expectNoAxeViolations)
  await dialog.getByLabel('Password').fill('not the password')
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click()
  await dialog.getByText('That was not right').waitFor()
  await Bun.sleep(1100)
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click()
  await page.getByText('The password was set.').waitFor()
  expect(complaints).toEqual([])
})

test('another tab that confirmed gives the session a new token, and this one goes on without asking', async () => {
  const email = 'tabs@people.test'
  const { page, open, context } = await openAsOwner(email)
  await open('/app/account')
  const before = await context.cookies()
  const [session] = before.filter(({ name }) => name === 'mailroom')
  expect(session).toBeDefined()
  const confirmed = await page.evaluate(async typed => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    return (await fetch('/app/api/confirm', { ...init, body: JSON.stringify({ password: typed }) })).status
  }, password)
  expect(confirmed).toBe(200)
  const after = (await context.cookies()).find(({ name }) => name === 'mailroom')
  expect(after?.value).not.toBe(session?.value)
  await nameField(page).fill('Other Tab')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your name was changed.').waitFor()
})

test('a page of another origin cannot make requests with the session', async () => {
  const { page, context } = await openAsOwner('cross@people.test')
  const other = Bun.serve({
    port: 0,
    fetch: () => new Response('<title>Other</title>', { headers: { 'content-type': 'text/html' } }),
  })
  try {
    // SameSite=Strict keeps the cookie at home for another site; another port is the same site, and is refused by the server.
    await page.goto(`http://localhost:${other.port}/`)
    const statuses = await page.evaluate(async url => {
      const post = (type: string) =>
        fetch(`${url}/app/api/account/sessions/end-others`, {
          method: 'POST',
          mode: 'no-cors',
          credentials: 'include',
          headers: { 'content-type': type },
          body: '{}',
        }).then(
          response => response.type,
          () => 'failed',
        )
      return [await post('text/plain'), await post('application/json')]
    }, dashboard.url)
    expect(statuses).toEqual(['opaque', 'opaque'])
    const { db } = dashboard.mailroom.database
    const entries = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'account.end_other_sessions')
      .execute()
    expect(entries).toEqual([])
    expect((await context.cookies(dashboard.url)).length).toBeGreaterThan(0)
  } finally {
    await other.stop(true)
  }
})

test('a member whose email is that of an account signs in to it, and both are joined', async () => {
  const email = 'joined@people.test'
  const window = await openWithPassword(dashboard, { email, access: null })
  await window.context.close()
  const { db } = dashboard.mailroom.database
  const member = await newOwner(dashboard, email)
  const { page, open } = await dashboard.openAsVisitor()
  await open(await newLinkPath(dashboard, member.id))
  await page.getByText(`${email} has an account here already.`).waitFor()
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/app\/org_/)
  const joined = await db.selectFrom('members').select('user_id').where('id', '=', member.id).executeTakeFirstOrThrow()
  expect(joined.user_id).toBe(await userId(dashboard, email))
})

async function invitationLink(email?: string): Promise<string> {
  const { mailroom, url } = dashboard
  const organizationId = mailroom.demo.organization_id as Id<'org'>
  const { link } = await createInvitation(
    { db: mailroom.database.db, clock: systemClock, publicUrl: url },
    { organizationId, memberId: null },
    { brand_ids: [mailroom.demo.brand_id], permissions: ['inbox:read', 'api_access'], ...(email && { email }) },
  )
  return link
}

test('an invitation leads a new person to an account, and whoever has one to joining with it', async () => {
  const { page, complaints } = await dashboard.openAsVisitor()
  await page.goto(await invitationLink('ina@people.test'))
  await page.getByRole('heading', { name: 'Join Demo' }).waitFor()
  await inAllLooks(page, 'invitation', expectNoAxeViolations)
  await page.getByLabel('Your name').fill('Ina')
  await page.getByRole('button', { name: 'Create my account and join' }).click()
  await page.getByText('Choose how you will sign in').waitFor()
  expect(complaints).toEqual([])

  const email = 'known@people.test'
  const known = await dashboard.openAs({ email, access: null })
  await known.page.goto(await invitationLink())
  await known.page.getByRole('button', { name: `Join as ${email}` }).click()
  await known.page.waitForURL(/\/app\/org_/)

  const visitor = await dashboard.openAsVisitor()
  await visitor.open('/app/invitation#none')
  await visitor.page.getByText('There is no invitation with this link.').waitFor()
})

test('the account of an owner in all looks; after signing in the page that was wanted comes', async () => {
  const { page, open } = await openAsOwner('looks@people.test')
  await open('/app/account')
  await nameField(page).waitFor()
  await inAllLooks(page, 'account-owner', expectNoAxeViolations)
  await page.context().clearCookies()
  await page.reload()
  await typePassword(page, 'looks@people.test')
  await page.waitForURL(/\/app\/account/)
})
