import type { Page } from 'playwright-core'
import { addMember } from '../../src/accounts/members/members.ts'
import { createLoginLink } from '../../src/accounts/sessions/login-links.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import type { Dashboard } from '../harness/dashboard.ts'

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
