import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { systemClock } from '../../src/base/clock.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { suppress } from '../../src/sending/suppressions/suppress.ts'
import { type Dashboard, type DashboardWindow, startDashboard } from '../harness/dashboard.ts'
import { endSessions, forgetConfirmation, openWithPassword, password } from './people.ts'

/** Files that the dashboard exports: whoever takes them away presents a factor first. */
let dashboard: Dashboard
let owner: DashboardWindow
let page: Page
const email = 'exports@people.test'
/** The names of the files that the browser was given. */
const files: string[] = []

beforeAll(async () => {
  dashboard = await startDashboard()
  owner = await openWithPassword(dashboard, { email, isOperator: true })
  page = owner.page
  page.on('download', file => files.push(file.suggestedFilename()))
  const { demo, database, api } = dashboard.mailroom
  await api('POST', '/v1/emails', { from: 'hello@demo.test', to: 'ann@x.example', subject: 'A receipt', text: 'Hello' })
  const key = { organizationId: demo.organization_id as Id<'org'>, brandId: demo.brand_id as Id<'brd'> }
  const suppression = {
    ...key,
    email: 'bob@x.example',
    reason: 'hard_bounce',
    evidence: '550 5.1.1 no such user',
  } as const
  await inTransaction(database.db, tx => suppress(tx, suppression, systemClock.now()))
}, 60_000)
afterAll(() => dashboard?.stop())

beforeEach(() => {
  files.length = 0
})

/** A screen with an export. */
interface Export {
  readonly path: string
  readonly file: RegExp
  readonly contains: string
  /** Asks for the file. */
  readonly start: () => Promise<void>
}

const exports: Readonly<Record<string, Export>> = {
  'the sent emails': {
    path: '/sent',
    file: /^sent-.*\.csv$/,
    contains: 'A receipt',
    start: () => page.getByRole('button', { name: 'Export CSV' }).click(),
  },
  'the suppressions': {
    path: '/suppressions',
    file: /^suppressions.*\.csv$/,
    contains: 'bob@x.example',
    start: async () => {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Download as CSV' }).click()
    },
  },
  'the audit log': {
    path: '/app/instance/audit',
    file: /^audit.*\.csv$/,
    contains: 'account.confirm',
    start: () => page.getByRole('button', { name: 'Export' }).click(),
  },
}

async function download(begin: () => Promise<void>) {
  const [file] = await Promise.all([page.waitForEvent('download'), begin()])
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

for (const [what, { path, file, contains, start }] of Object.entries(exports))
  test(`${what} are not given before a factor is presented, and are at once after it`, async () => {
    await forgetConfirmation(dashboard, email)
    await owner.open(path)
    await start()
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await dialog.getByLabel('Password').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(files).toEqual([])

    await start()
    await dialog.getByLabel('Password').fill(password)
    const first = await download(() => dialog.getByRole('button', { name: 'Confirm', exact: true }).click())
    expect(first.name).toMatch(file)
    expect(first.text).toContain(contains)
    const second = await download(start)
    expect(second.text).toContain(contains)
    expect(files).toHaveLength(2)
    expect(owner.complaints).toEqual([])
  }, 60_000)

test('without the confirmation the server gives no file, whoever asks', async () => {
  await forgetConfirmation(dashboard, email)
  await owner.open('/sent')
  const statuses = await page.evaluate(async organization => {
    const paths = ['sent.csv', 'suppressions.csv', 'instance/audit.csv']
    const answers = paths.map(path => fetch(`/app/api/${path}?organization=${organization}`))
    return Promise.all(
      answers.map(async answer => ({ status: (await answer).status, text: await (await answer).text() })),
    )
  }, dashboard.mailroom.demo.organization_id)
  for (const { status, text } of statuses) {
    expect(status).toBe(403)
    expect(text).toContain('confirmation_required')
  }
})

test('when the session has ended one signs in where one is, and the file comes', async () => {
  await owner.open('/sent')
  await page.getByText('A receipt').waitFor()
  await endSessions(dashboard, email)
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.getByLabel('Password').fill(password)
  const { text } = await download(() => dialog.getByRole('button', { name: 'Sign in', exact: true }).click())
  expect(text).toContain('A receipt')
}, 60_000)
