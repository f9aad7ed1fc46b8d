import type { Page } from 'playwright-core'
import { addMember } from '../../src/accounts/members/members.ts'
import { createLoginLink } from '../../src/accounts/sessions/login-links.ts'
import { hashPassword } from '../../src/accounts/users/password.ts'
import { type Instant, systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import type { Dashboard, DashboardWindow, NewPerson } from '../harness/dashboard.ts'

let count = 0

/** An owner of the demo organization without an account. */
export async function newOwner({ mailroom }: Dashboard, email = `owner-${++count}@people.test`) {
  const member = {
    organizationId: mailroom.demo.organization_id as Id<'org'>,
    email,
    name: 'Mia Moss',
    access: { role: 'owner' },
  } as const
  const { id } = await addMember(mailroom.database.db, member, systemClock)
  return { id, email }
}

/** The path of a link that signs this member in. */
export async function newLinkPath({ mailroom }: Dashboard, memberId: Id<'mem'>): Promise<string> {
  const { token } = await createLoginLink(mailroom.database.db, { memberId }, systemClock)
  return `/app/welcome#${token}`
}

/** Gives the page a device that has passkeys and answers for its person at once. */
export async function addPasskeyDevice(page: Page): Promise<void> {
  const debuggerSession = await page.context().newCDPSession(page)
  await debuggerSession.send('WebAuthn.enable')
  await debuggerSession.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

export const password = 'five purple otters juggle'

/** Opens a window of a new person, an owner unless something else is said, who has {@link password}. */
export async function openWithPassword(
  dashboard: Dashboard,
  person: NewPerson & { readonly email: string },
): Promise<DashboardWindow> {
  const window = await dashboard.openAs(person)
  await dashboard.mailroom.database.db
    .updateTable('users')
    .set({ password_hash: await hashPassword(password) })
    .where('email', '=', person.email)
    .execute()
  return window
}

/** The id of the account with this email. */
export async function userId({ mailroom }: Dashboard, email: string): Promise<Id<'usr'>> {
  const { db } = mailroom.database
  return (await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()).id
}

/** The person's factor was presented long ago: what wants a confirmation asks for it. */
export async function forgetConfirmation(dashboard: Dashboard, email: string): Promise<void> {
  await dashboard.mailroom.database.db
    .updateTable('sessions')
    .set({ confirmed_at: '2020-01-01 00:00:00.000000' as Instant })
    .where('user_id', '=', await userId(dashboard, email))
    .execute()
}

/** Ends all sessions of a person, as when they expire. */
export async function endSessions(dashboard: Dashboard, email: string): Promise<void> {
  const { db } = dashboard.mailroom.database
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', await userId(dashboard, email))
    .execute()
}

/** On the account screen: sets a password. */
export async function setPassword(page: Page, newPassword = password): Promise<void> {
  await page
    .getByRole('button', { name: /Set a password|Change the password/ })
    .first()
    .click()
  await page.getByLabel('New password').fill(newPassword)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /password/ })
    .last()
    .click()
  await page.getByText('The password was set.').waitFor()
}

/** On the sign-in form: types both and sends them. */
export async function typePassword(page: Page, email: string, typed = password): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(typed)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
